/**
 * Builds dist/: one file for each entry of the package, the chunks that they share, and declarations. With `--prepare`
 * (npm runs that after an install in the checkout and for a git dependency) it leaves out the type check, which `npm run
 * types` does, and does nothing where its tools are not installed. With `--package <folder>` it puts the package there as
 * it is published: what `npm publish <folder>` takes. With `--code <folder>` it puts the code there and no declarations:
 * what tests run as processes.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './console.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const target = valueOf('--package')
const codeAlone = valueOf('--code')
const prepare = process.argv.includes('--prepare')
const stage = target ?? root
const dist = codeAlone ?? join(stage, 'dist')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Files of dist by what they are made of. Threads and processes are found beside the chunk that starts them. */
const ENTRIES = {
  index: 'src/index.ts',
  plugins: 'plugins/index.ts',
  client: 'src/client.ts',
  testing: 'src/testing/index.ts',
  bench: 'src/bench/index.ts',
  rules: 'src/rules/index.ts',
  host: 'src/host/index.ts',
  kafka: 'src/kafka/index.ts',
  cli: 'src/cli/main.ts',
  'state-writer': 'src/storage/sqlite/state-writer.ts',
  'series-writer': 'src/storage/sqlite/series-writer.ts',
  reader: 'src/storage/sqlite/reader.ts',
  'work-thread': 'src/host/work/work-thread.ts',
  'bench-process': 'src/bench/bench-process.ts',
}

/**
 * What runs inside the processes of functions: each is one file with all that it needs, since they see little else.
 * Beside them lie the same in Python.
 */
const INSIDE = {
  'node-bootstrap': 'src/platform/sandbox/node-bootstrap.ts',
  'node-plug': 'src/services/functions/runtimes/node-plug.ts',
  'node-web': 'src/services/functions/runtimes/node-web.ts',
}
const INSIDE_PYTHON = [
  'src/platform/sandbox/bootstrap.py',
  'src/services/functions/runtimes/python_host.py',
  'src/services/functions/runtimes/python_plug.py',
  'src/services/functions/runtimes/python_web.py',
  'src/services/models/python/model_worker.py',
]

if (prepare && !existsSync(join(root, 'node_modules', 'rolldown'))) {
  process.stderr.write('prepare: dist is not built, because development packages are left out\n')
  process.exit(0)
}
rmSync(dist, { recursive: true, force: true })
const bundled = await bundle()
for (const name of packagesOf(await buildConsole(join(dist, 'console')))) bundled.add(name)
for (const [name, source] of Object.entries(INSIDE)) await bundleAlone(name, source)
for (const source of INSIDE_PYTHON) cpSync(join(root, source), join(dist, basename(source)))
writeFileSync(join(dist, 'THIRD-PARTY.md'), notices(bundled))
chmodSync(join(dist, 'cli.js'), 0o755)
const status = codeAlone === undefined ? declare() : 0
if (target !== undefined) stagePackage()
process.exit(status)

function valueOf(option) {
  return process.argv.includes(option) ? process.argv[process.argv.indexOf(option) + 1] : undefined
}

/** Writes the code; gives the names of the packages that are in it. */
async function bundle() {
  const { rolldown } = await import('rolldown')
  const { esmExternalRequirePlugin } = await import('rolldown/plugins')
  const outside = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]
  const build = await rolldown({
    cwd: root,
    input: ENTRIES,
    platform: 'neutral',
    external: (id) => outside.some((name) => id === name || id.startsWith(`${name}/`)),
    resolve: {
      // rrule is one file there, and its other form has no default export
      mainFields: ['main', 'module'],
      // cron-parser would bring it a second time
      alias: { luxon: join(root, 'node_modules/luxon/build/es6/luxon.mjs') },
    },
    plugins: [
      // packages that are no ES modules require what Node has: that becomes an import
      esmExternalRequirePlugin({ external: [/^node:/] }),
      {
        name: 'leave out what reads files',
        load: (id) =>
          id.endsWith('/cron-parser/dist/CronFileParser.js') ? 'exports.CronFileParser = class {}' : undefined,
      },
      {
        name: "name Node's own modules with their prefix",
        transform: (code, id) =>
          id.includes('/node_modules/yauzl/')
            ? code.replaceAll(/require\((['"])(fs|zlib|util|stream|events)\1\)/g, "require('node:$2')")
            : undefined,
      },
    ],
    onLog(level, log, handle) {
      if (level === 'warn') throw new Error(log.message)
      handle(level, log)
    },
  })
  const { output } = await build.write({
    dir: dist,
    format: 'esm',
    chunkFileNames: '[name].js',
    codeSplitting: {
      groups: [
        { name: 'kernel', test: /\/src\/kernel\//, priority: 2 },
        { name: 'core', test: /\/src\/(?:core\/|platform\/generate\.ts|plug\.ts)/, priority: 1 },
      ],
    },
  })
  await build.close()
  return packagesOf(output.flatMap((chunk) => chunk.moduleIds ?? []))
}

function packagesOf(files) {
  return new Set(files.flatMap((id) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []))
}

/** Writes a file that imports nothing but Node's own modules. */
async function bundleAlone(name, source) {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({ cwd: root, input: { [name]: source }, platform: 'node' })
  const { output } = await build.write({ dir: dist, format: 'esm' })
  await build.close()
  if (output.length !== 1) throw new Error(`${source} became ${output.length} files`)
}

/** The licenses of the packages whose code is in dist. */
function notices(names) {
  const parts = [...names]
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => {
      const folder = join(root, 'node_modules', name)
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
      const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
      return `## ${name} ${version} (${license})\n\n${text}\n`
    })
  return `# Packages whose code is in these files\n\n${parts.join('\n')}`
}

/** Writes the declarations; gives the compiler's exit code. */
function declare() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = ['-p', join(root, 'src', 'tsconfig.json'), '--outDir', join(dist, 'types')]
  const unchecked = prepare || target !== undefined ? ['--noCheck'] : []
  const { status } = spawnSync(process.execPath, [compiler, ...args, ...unchecked], { cwd: root, stdio: 'inherit' })
  closeDoors()
  bringTypebox()
  return status ?? 1
}

/** Doors are names of the checkout alone: in declarations they become paths. */
function closeDoors() {
  const types = join(dist, 'types')
  const doors = Object.entries(manifest.imports).toSorted(([a], [b]) => b.length - a.length)
  const behind = (door) => {
    for (const [name, file] of doors) {
      const [start, end = ''] = name.split('*')
      if (name.includes('*') ? door.startsWith(start) && door.endsWith(end) : door === name) {
        return file.replace('*', door.slice(start.length, door.length - end.length))
      }
    }
    throw new Error(`${door} is not under imports in package.json`)
  }
  for (const name of readdirSync(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue
    const text = readFileSync(join(types, name), 'utf8')
    const folder = dirname(join(types, name))
    const own = text.replaceAll(/((?:from |import\()['"])(#[\w/-]+)(?=['"])/g, (_, start, door) => {
      const path = relative(folder, join(types, behind(door)))
        .replaceAll('\\', '/')
        .replace(/\.ts$/, '.js')
      return `${start}${path.startsWith('.') ? path : `./${path}`}`
    })
    if (own !== text) writeFileSync(join(types, name), own)
  }
}

/** Some types of the services follow from their schemas, so that the declarations of typebox belong to ours. */
function bringTypebox() {
  const types = join(dist, 'types')
  cpSync(join(root, 'node_modules/typebox/build'), join(types, 'typebox'), {
    recursive: true,
    filter: (path) => !/\.m?js$/.test(path),
  })
  for (const name of readdirSync(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue
    const text = readFileSync(join(types, name), 'utf8')
    const place = relative(dirname(join(types, name)), join(types, 'typebox')).replaceAll('\\', '/')
    const own = text.replaceAll(/(from ['"])typebox((?:\/\w+)?)(?=['"])/g, `$1${place}$2/index.mjs`)
    if (own !== text) writeFileSync(join(types, name), own)
  }
}

/** What is for the checkout alone stays there: its scripts, its development packages, the settings of its tools. */
function stagePackage() {
  mkdirSync(stage, { recursive: true })
  const {
    imports: _doors,
    scripts: _scripts,
    devDependencies: _packages,
    knip: _knip,
    private: _private,
    ...published
  } = manifest
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  for (const name of ['README.md', 'LICENSE', 'docs', 'fixtures']) {
    cpSync(join(root, name), join(stage, name), { recursive: true })
  }
}
