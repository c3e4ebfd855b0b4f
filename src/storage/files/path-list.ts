/** Keeps the sorted paths of one tenant, read from its folders by the first listing and then kept up to date. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { indexInOrder } from '../path-page.ts'
import { codeOf } from './file-errors.ts'
import { pieceOf } from './object-name.ts'

export class PathList {
  #paths: string[] | undefined
  #reading: Promise<string[]> | undefined
  /** changes made while the folders are being read */
  #changes: (readonly [path: string, there: boolean])[] = []

  /** `folder` returns undefined while the folder does not exist. */
  async inOrder(folder: () => Promise<string | undefined>): Promise<readonly string[]> {
    if (this.#paths !== undefined) return this.#paths
    this.#reading ??= this.#read(folder)
    return this.#reading
  }

  changed(path: string, there: boolean): void {
    if (this.#reading !== undefined) this.#changes.push([path, there])
    else if (this.#paths !== undefined) apply(this.#paths, path, there)
  }

  async #read(folder: () => Promise<string | undefined>): Promise<string[]> {
    try {
      const root = await folder()
      const paths: string[] = []
      if (root !== undefined) for await (const path of pathsIn(root, [])) paths.push(path)
      for (const [path, there] of this.#changes) apply(paths, path, there)
      this.#paths = paths
      return paths
    } finally {
      this.#changes = []
      this.#reading = undefined
    }
  }
}

/** Yields the paths of all objects below a folder, in byte order. */
export async function* pathsIn(folder: string, before: readonly Buffer[]): AsyncIterable<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT') return []
    throw thrown
  })
  const pieces = entries.flatMap((entry) => {
    const piece = pieceOf(entry.name)
    if (piece === undefined) return []
    const real = piece.kind === 'folder' ? entry.isDirectory() : entry.isFile()
    return real ? [{ ...piece, name: entry.name }] : []
  })
  // for equal bytes, the object has the shorter path
  pieces.sort((a, b) => Buffer.compare(a.bytes, b.bytes) || (a.kind === 'object' ? -1 : 1))
  for (const { kind, bytes, name } of pieces) {
    if (kind === 'object') yield Buffer.concat([...before, bytes]).toString()
    else yield* pathsIn(join(folder, name), [...before, bytes])
  }
}

function apply(paths: string[], path: string, there: boolean): void {
  const at = indexInOrder(paths, path)
  const found = paths[at] === path
  if (found !== there) paths.splice(at, found ? 1 : 0, ...(there ? [path] : []))
}
