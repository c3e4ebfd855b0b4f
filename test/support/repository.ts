import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Text of a file of the checkout, by its path from the top. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Paths (from the top, with `/`) of the files under the folders that end with `ending`, sorted. A folder may be absent. */
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

/** Names that .gitignore leaves out, without slashes at their ends. */
export function ignoredNames(): ReadonlySet<string> {
  return new Set(
    readText('.gitignore')
      .split('\n')
      .map((line) => line.trim().replace(/^\/|\/$/g, ''))
      .filter((line) => line !== '' && !line.startsWith('#')),
  )
}
