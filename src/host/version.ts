/** Reads the version and the peer ranges from the package manifest. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Manifest {
  readonly version: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}

let known: Manifest | undefined

/** Finds the package.json above this file, wherever the build placed the file. Reads it once. */
export function ownManifest(): Manifest {
  return (known ??= readManifest())
}

function readManifest(): Manifest {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, 'package.json')
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Manifest
    if (folder === dirname(folder)) return { version: 'unknown' }
  }
}

export function ownVersion(): string {
  return ownManifest().version
}
