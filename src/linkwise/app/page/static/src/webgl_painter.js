/** Points drawn by a graphics card. */

/** @import { Painter } from "./painter.js" */

const VERTEX = `#version 300 es
in vec2 place;
in uint label;
uniform vec2 centre, factor;
uniform float size;
uniform highp sampler2D colours;
flat out vec4 colour;
flat out int shape;
void main() {
  gl_Position = vec4((place - centre) * factor, 0.0, 1.0);
  gl_PointSize = size;
  colour = texelFetch(colours, ivec2(int(label & 255u), int(label >> 8u)), 0);
  shape = int(colour.a * 255.0 + 0.5) & 3;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 colour;
flat in int shape;
uniform float size;
out vec4 shown;
float measure(vec2 at) { // as measureShape of colours.js
  float least = min(at.x, at.y), most = max(at.x, at.y);
  if (shape == 1) return most + 0.13;
  if (shape == 2) return (least + most) * 0.70711 + 0.17;
  if (shape == 3) return max(least + 0.62, most);
  return length(at);
}
void main() {
  float inside = size > 2.5 ? clamp(size * 0.5 * (1.0 - measure(abs(2.0 * gl_PointCoord - 1.0))), 0.0, 1.0) : 1.0;
  shown = vec4(colour.rgb, 1.0) * colour.a * inside;
}`;

/**
 * Tell whether WebGL runs in software; browsers do not always report this as a performance caveat.
 * @param {WebGL2RenderingContext} gl
 */
function isSoftware(gl) {
  const card = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(
    gl.getParameter(card ? card.UNMASKED_RENDERER_WEBGL : gl.RENDERER),
  );
}

/**
 * Compile the program. Null if it does not link.
 * @param {WebGL2RenderingContext} gl
 */
function createProgram(gl) {
  const program = gl.createProgram();
  for (const [type, source] of /** @type {[number, string][]} */ ([
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ])) {
    const shader = gl.createShader(type);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  const isUsable = gl.getProgramParameter(program, gl.LINK_STATUS) || gl.isContextLost();
  return isUsable ? program : null;
}

/**
 * A painter that keeps colours in a texture by label, so that an answer uploads one or two bytes a row. Null
 * where there is no graphics card.
 * @param {HTMLCanvasElement} canvas
 * @returns {Painter | null}
 */
export function createWebglPainter(canvas) {
  const gl = canvas.getContext("webgl2", {
    antialias: false,
    powerPreference: "low-power",
    failIfMajorPerformanceCaveat: true,
  });
  if (!gl || isSoftware(gl)) return null;
  const program = createProgram(gl);
  if (!program) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniforms = {
    centre: gl.getUniformLocation(program, "centre"),
    factor: gl.getUniformLocation(program, "factor"),
    size: gl.getUniformLocation(program, "size"),
  };
  const bindBuffer = /** @param {string} name */ (name) => {
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(gl.getAttribLocation(program, name));
    return buffer;
  };
  const places = bindBuffer("place");
  gl.vertexAttribPointer(gl.getAttribLocation(program, "place"), 2, gl.FLOAT, false, 0, 0);
  const labels = bindBuffer("label");
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
    gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  let n = 0;
  return {
    setPlaces(values) {
      n = values.length / 2;
      gl.bindBuffer(gl.ARRAY_BUFFER, places);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    },
    setLabels(values) {
      const type = values.BYTES_PER_ELEMENT === 1 ? gl.UNSIGNED_BYTE : gl.UNSIGNED_SHORT;
      gl.bindBuffer(gl.ARRAY_BUFFER, labels);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      gl.vertexAttribIPointer(gl.getAttribLocation(program, "label"), 1, type, 0, 0);
    },
    setColours(table) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, table.length / 1024, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
    },
    paint({ width, height, ratio, x, y, scale, size }) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(uniforms.centre, x, y);
      gl.uniform2f(uniforms.factor, (2 * scale) / width, (2 * scale) / height);
      gl.uniform1f(uniforms.size, Math.max(1, size * ratio));
      gl.drawArrays(gl.POINTS, 0, n);
    },
  };
}
