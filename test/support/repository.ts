import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The path of the checkout. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Reads a file of the checkout, by its path from the root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/**
 * Returns the sorted paths (from the root, with `/`) of files under the folders whose names end with `ending`. A folder
 * may be absent.
 */
export function filesUnder(folders: readonly string[], ending: string): readonly string[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    )
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith(ending) && !path.includes('/node_modules/'))
    .sort()
}

/** Returns the names that .gitignore excludes, without trailing slashes. */
export function ignoredNames(): ReadonlySet<string> {
  return new Set(
    readText('.gitignore')
      .split('\n')
      .map((line) => line.trim().replace(/^\/|\/$/g, ''))
      .filter((line) => line !== '' && !line.startsWith('#')),
  )
}
