/**
 * A disk by the word of POSIX: what was written is there for certain once its file was synced, and a name once its folder
 * was. Of all else a power cut leaves anything: nothing of it, all, or some sectors and names.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { DiskStep } from './recording.ts'

const SECTOR = 512

type Change = Extract<DiskStep, { readonly kind: 'write' | 'truncate' }>

interface FileState {
  synced: Buffer
  unsynced: Change[]
}

/** What a path leads to: a file by its number, or a folder. */
type Entry = string | undefined
const FOLDER = 'folder'

interface NameChange {
  readonly path: string
  readonly entry: Entry
}

/** Of names that change together, such as both of a rename. */
type Naming = readonly NameChange[]

/** `dropped`: nothing is left of what was not synced; `torn`: some of it, by sector and by name, whatever came first. */
export type Leaving = 'dropped' | 'torn'

export class Disk {
  readonly #root: string
  readonly #files = new Map<string, FileState>()
  /** as the process sees them, and as they are for certain */
  readonly #seen = new Map<string, Entry>()
  readonly #synced = new Map<string, Entry>()
  #unsynced: Naming[] = []

  constructor(root: string) {
    this.#root = root
  }

  apply(step: DiskStep): void {
    switch (step.kind) {
      case 'create':
        return this.#name([{ path: step.path, entry: step.file }])
      case 'mkdir':
        return this.#name([{ path: step.path, entry: FOLDER }])
      case 'remove':
        return this.#name([{ path: step.path, entry: undefined }])
      case 'link':
        return this.#name([{ path: step.to, entry: this.#seen.get(step.from) }])
      case 'rename':
        return this.#name([
          { path: step.to, entry: this.#seen.get(step.from) },
          { path: step.from, entry: undefined },
        ])
      case 'write':
      case 'truncate':
        return void this.#file(step.file).unsynced.push(step)
      case 'sync': {
        const file = this.#file(step.file)
        file.synced = contentOf(file, () => true)
        file.unsynced = []
        return
      }
      case 'syncFolder': {
        const isIn = (naming: Naming): boolean => dirname(naming[0]?.path ?? '') === step.path
        for (const naming of this.#unsynced) if (isIn(naming)) place(this.#synced, naming)
        this.#unsynced = this.#unsynced.filter((naming) => !isIn(naming))
      }
    }
  }

  /** Writes what a power cut leaves into a folder. `random` returns numbers in [0, 1). */
  leave(folder: string, leaving: Leaving, random: () => number): void {
    const keeps = (): boolean => leaving === 'torn' && random() < 0.5
    const names = new Map(this.#synced)
    for (const naming of this.#unsynced) if (keeps()) place(names, naming)
    mkdirSync(folder, { recursive: true })
    for (const [path, entry] of [...names].sort(([one], [other]) => (one < other ? -1 : 1))) {
      if (entry === undefined || !this.#isReached(path, names)) continue
      const target = join(folder, relative(this.#root, path))
      if (entry === FOLDER) mkdirSync(target)
      else writeFileSync(target, contentOf(this.#file(entry), keeps))
    }
  }

  /** If the name of a folder is lost, so are the names in it. */
  #isReached(path: string, names: ReadonlyMap<string, Entry>): boolean {
    for (let folder = dirname(path); folder.startsWith(`${this.#root}/`); folder = dirname(folder)) {
      if (names.get(folder) !== FOLDER) return false
    }
    return true
  }

  #name(naming: Naming): void {
    place(this.#seen, naming)
    this.#unsynced.push(naming)
  }

  #file(file: string): FileState {
    const known = this.#files.get(file) ?? { synced: Buffer.alloc(0), unsynced: [] }
    this.#files.set(file, known)
    return known
  }
}

function place(names: Map<string, Entry>, naming: Naming): void {
  for (const { path, entry } of naming) names.set(path, entry)
}

/** With those sectors of what is not synced that are kept; each may have any of the contents that it had since. */
function contentOf({ synced, unsynced }: FileState, keeps: () => boolean): Buffer {
  const most = unsynced.map((change) => (change.kind === 'write' ? change.offset + change.bytes.length : change.size))
  const bytes = Buffer.alloc(Math.max(synced.length, ...most))
  synced.copy(bytes)
  let size = synced.length
  for (const change of unsynced) {
    if (change.kind === 'truncate') {
      if (!keeps()) continue
      bytes.fill(0, change.size, size)
      size = change.size
      continue
    }
    const { offset, bytes: written } = change
    for (let at = 0; at < written.length;) {
      const end = Math.min(written.length, (Math.floor((offset + at) / SECTOR) + 1) * SECTOR - offset)
      if (keeps()) {
        written.copy(bytes, offset + at, at, end)
        size = Math.max(size, offset + end)
      }
      at = end
    }
  }
  return bytes.subarray(0, size)
}
