/**
 * Builds the console, the pages that a host serves at /console. As a program it prints the folder of a build of the
 * present sources, which a host in the checkout serves, and builds only after a change.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const CACHE = join(root, 'node_modules', '.cache', 'console')
const DAY = 86_400_000 // ms

/** Writes the pages into the folder. Returns the ids of the modules that they consist of. */
export async function buildConsole(folder) {
  const { build } = await import('vite')
  const { output } = await build({
    root: join(root, 'src', 'console'),
    base: './',
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
  return output.flatMap((chunk) => chunk.moduleIds ?? [])
}

/** Returns a name that changes whenever a source does. */
function stateOfSources() {
  const hash = createHash('sha256')
  for (const folder of ['src/console', 'src/services', 'src/kernel', 'src/client.ts', 'package-lock.json']) {
    const path = join(root, folder)
    const names = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }) : ['']
    for (const name of names.toSorted((a, b) => a.localeCompare(b))) {
      const file = statSync(join(path, name))
      if (file.isFile()) hash.update(`${join(path, name)} ${file.size} ${file.mtimeMs}\n`)
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/** Returns the folder of a build of the present sources. */
async function currentBuild() {
  const folder = join(CACHE, stateOfSources())
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  // Two hosts may build at the same time: the first whole build is kept
  const making = mkdtempSync(join(CACHE, 'making-'))
  await buildConsole(making)
  const old = readdirSync(CACHE).filter((name) => Date.now() - statSync(join(CACHE, name)).mtimeMs > DAY)
  for (const name of old) rmSync(join(CACHE, name), { recursive: true, force: true })
  try {
    renameSync(making, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(await currentBuild())
