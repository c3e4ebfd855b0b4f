/** A model as it lies on a disk: which framework it is of, and the zip that is uploaded. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { zipSync } from 'fflate'
import { AppError } from '#kernel'
import type { Framework } from '#services/models/contract'
import { mainFileOf } from '#services/models'

const BY_ENDING: ReadonlyMap<string, Framework> = new Map([
  ['.joblib', 'sklearn'],
  ['.bst', 'xgboost'],
  ['.ubj', 'xgboost'],
  ['.pt', 'pytorch'],
  ['.dill', 'custom'],
])

export interface ModelFile {
  readonly framework: Framework
  readonly zip: Uint8Array
}

/** `NOT_FOUND` for a path that is not there, `USAGE` when nobody says which framework it is of. */
export async function readModelFile(path: string, given: Framework | undefined): Promise<ModelFile> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new AppError('NOT_FOUND', `${path}: there is no such file or folder`)
  const framework = given ?? (found.isDirectory() ? 'tensorflow' : BY_ENDING.get(extname(path)))
  if (framework === undefined) {
    throw new AppError(
      'USAGE',
      `--framework: ${path} does not say it; its name ends neither in ${[...BY_ENDING.keys()].join(', ')}`,
    )
  }
  if (extname(path) === '.zip') return { framework, zip: await readFile(path) }
  const files = found.isDirectory() ? await filesOf(path) : { [mainFileOf(framework)]: await readFile(path) }
  return { framework, zip: zipSync(files) }
}

async function filesOf(folder: string): Promise<Record<string, Uint8Array>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const files = await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path)] as const))
  return Object.fromEntries(files)
}
