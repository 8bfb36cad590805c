"use strict";
// Puts the extension and its dependencies into one file, dist/extension.js, with their licences beside it.

const fs = require("node:fs");
const path = require("node:path");
const esbuild = require("esbuild");

const { metafile } = esbuild.buildSync({
  absWorkingDir: __dirname,
  entryPoints: ["extension.js"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  target: "node18",
  external: ["vscode"],
  metafile: true,
});

const folders = new Set(Object.keys(metafile.inputs).map((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean));
const notices = [...folders].sort().map((folder) => {
  const { name, version } = JSON.parse(fs.readFileSync(path.join(__dirname, folder, "package.json"), "utf8"));
  const license = fs.readdirSync(path.join(__dirname, folder)).find((file) => /^licen[cs]e/i.test(file));
  if (!license) {
    throw new Error(`${folder} has no licence to hand on`);
  }
  return `${name} ${version}\n\n${fs.readFileSync(path.join(__dirname, folder, license), "utf8").trim()}\n`;
});
fs.writeFileSync(path.join(__dirname, "dist/NOTICES.txt"), notices.join("\n---\n\n"));
fs.copyFileSync(path.join(__dirname, "../../../LICENSE"), path.join(__dirname, "LICENSE"));
