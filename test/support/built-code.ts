/**
 * Builds the code as users receive it from the current sources, once for all tests that start processes. A process
 * starts twice as fast from it as from hundreds of sources.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder, root } from './repository.ts'
import { mustRun } from './run-command.ts'

const CACHE = join(root, 'node_modules', '.cache', 'built-code')
/** builds of other source states to keep, for other test runs in the same folder */
const MAX_OTHERS = 16

let known: string | undefined

/** Returns the path of a built file, such as `cli.js`. */
export function builtCode(file: string): string {
  known ??= folderOf(stateOfSources())
  return join(known, file)
}

/** Returns a text that changes whenever a source does. */
function stateOfSources(): string {
  const sources = [...filesUnder(['src', 'plugins'], ''), '.ci/build.mjs', 'package.json', 'package-lock.json']
  const hash = createHash('sha256')
  for (const path of sources) {
    const file = statSync(join(root, path))
    if (file.isFile()) hash.update(`${path} ${file.size} ${file.mtimeMs}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

function folderOf(state: string): string {
  const folder = join(CACHE, state)
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  const others = readdirSync(CACHE).map((name) => ({
    path: join(CACHE, name),
    time: statSync(join(CACHE, name)).mtimeMs,
  }))
  for (const { path } of others.toSorted((a, b) => b.time - a.time).slice(MAX_OTHERS))
    rmSync(path, { recursive: true, force: true })
  // Two concurrent builds produce the same result, so the first one is kept.
  const made = mkdtempSync(join(CACHE, 'making-'))
  mustRun(process.execPath, [join(root, '.ci', 'build.mjs'), '--code', join(made, 'dist')], root)
  try {
    renameSync(join(made, 'dist'), folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  }
  rmSync(made, { recursive: true, force: true })
  return folder
}
