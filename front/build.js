// Bundle the modules of the page into the two files that the package ships; `--check` only compares them.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, "src/linkwise/app/page/static");
const onlyCheck = process.argv.includes("--check");

const { outputFiles } = await build({
  absWorkingDir: folder,
  entryPoints: ["src/widget.js", "src/host.js"],
  outdir: folder,
  bundle: true,
  external: ["./widget.js"], // the page and notebooks load the same file
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: true,
  banner: { js: "// Made from static/src by `make front`. Change the modules there, not this file." },
  write: !onlyCheck,
});

if (onlyCheck) {
  const stale = [];
  for (const file of outputFiles) {
    const committed = await readFile(file.path, "utf8").catch(() => "");
    if (committed !== file.text) stale.push(path.relative(root, file.path));
  }
  if (stale.length > 0) {
    console.error(`${stale.join(" and ")} differ from a fresh bundle. Run make front and commit the result.`);
    process.exit(1);
  }
}
