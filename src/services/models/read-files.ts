/** Reads the files of a model that came without a zip: those of its framework, within the bounds of what zips unpack to. */
import { createHash } from 'node:crypto'
import { AppError } from '#kernel'
import type { ModelRelease } from './contract.ts'
import type { PackageOfFiles } from './driver.ts'
import { belongs, LAYOUTS } from './layouts.ts'
import { MAX_UNPACKED } from './read-zip.ts'

/** What does not belong to a model of its framework is left out. `VALIDATION`, `TOO_LARGE`. */
export function readFiles({
  framework,
  files,
}: Pick<ModelRelease, 'framework' | 'files'>): Pick<PackageOfFiles, 'framework' | 'digest' | 'files'> {
  const { file, meaning } = LAYOUTS[framework]
  const own = new Map([...files].filter(([path]) => belongs(framework, path)))
  if (!own.has(file)) throw new AppError('VALIDATION', `there is no ${file}; put ${meaning} there under that name`)
  const size = [...own.values()].reduce((sum, content) => sum + content.length, 0)
  if (size > MAX_UNPACKED) throw new AppError('TOO_LARGE', `the model has more than ${MAX_UNPACKED} bytes`)
  return { framework, digest: digestOf(framework, own), files: own }
}

/** The same for the same files, and for no others. */
export function digestOf(framework: string, files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha256').update(framework)
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([path, content.length])).update(content)
  }
  return hash.digest('hex')
}
