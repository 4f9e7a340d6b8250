/** Numbers and the bytes that they come in. */

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/**
 * View bytes, whichever type the host uses for them.
 * @param {ArrayBuffer | ArrayBufferView | null | undefined} value
 */
export function toBytes(value) {
  if (!value) return new Uint8Array(0);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return new Uint8Array(value);
}

/**
 * View the same bytes as numbers of another type; they are copied only if they are not aligned.
 * @template T
 * @param {ArrayBuffer | ArrayBufferView | null | undefined} value
 * @param {{ new (buffer: ArrayBufferLike, offset: number, length: number): T, BYTES_PER_ELEMENT: number }} Type
 */
export function toTypedArray(value, Type) {
  const bytes = toBytes(value);
  const size = Type.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new Type(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / size));
}
