/** Reads and writes the files of a folder of rules, and its record of what the host had. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, isPlainObject, messageOf } from '#kernel'
import type { Document, Kind } from './kinds.ts'

const RECORD = '.reflexarc.json'
/** bytes; with its ending, a name fits in every file system */
const MAX_NAME = 180

export interface FileDocument {
  readonly path: string
  readonly document: Document
}

/** Hashes of documents as file and host had them after the last pull or push, by kind and id. */
export type Pulled = Map<string, { readonly file: string; readonly host: string }>

export class RulesFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Returns documents by id. Throws one `USAGE` with the problems of all files. */
  async read(kinds: readonly Kind[]): Promise<ReadonlyMap<Kind, ReadonlyMap<string, FileDocument>>> {
    const problems: string[] = []
    const all = new Map<Kind, Map<string, FileDocument>>()
    for (const kind of kinds) {
      const found = new Map<string, FileDocument>()
      all.set(kind, found)
      for (const path of this.#files(kind.folder)) {
        try {
          const document = await documentAt(path)
          const id = document[kind.key]
          const other = typeof id === 'string' ? found.get(id) : undefined
          if (typeof id !== 'string' || id === '') problems.push(`${path}: /${kind.key} <- is required`)
          else if (other !== undefined)
            problems.push(`${path}: ${kind.key} ${JSON.stringify(id)} is also in ${other.path}`)
          else found.set(id, { path, document })
        } catch (error) {
          problems.push(`${path}: ${messageOf(error)}`)
        }
      }
    }
    if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
    return all
  }

  /** Writes JSON, or YAML if the path says so. */
  async write(path: string, document: Document): Promise<void> {
    mkdirSync(dirname(path), { recursive: true })
    const isYaml = /\.ya?ml$/.test(path)
    const text = isYaml ? (await import('yaml')).stringify(document) : `${JSON.stringify(document, null, 2)}\n`
    writeFileSync(path, text)
  }

  remove(path: string): void {
    rmSync(path, { force: true })
  }

  pathOf({ folder }: Kind, id: string, ending: string): string {
    const plain = encodeURIComponent(id).replaceAll(/%20/g, ' ').replaceAll('*', '%2A').replace(/^\./, '%2E')
    const name = plain.length <= MAX_NAME ? plain : `${plain.slice(0, MAX_NAME - 17)}~${hashOf(id).slice(0, 16)}`
    return join(this.path, folder, `${name}${ending}`)
  }

  pulled(): Pulled {
    const path = join(this.path, RECORD)
    if (!existsSync(path)) return new Map()
    const record: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const documents = isPlainObject(record) && isPlainObject(record['documents']) ? record['documents'] : {}
    return new Map(
      Object.entries(documents).flatMap(([name, hashes]) => {
        if (!isPlainObject(hashes)) return []
        return [[name, { file: String(hashes['file']), host: String(hashes['host']) }] as const]
      }),
    )
  }

  keep(pulled: Pulled): void {
    mkdirSync(this.path, { recursive: true })
    const documents = Object.fromEntries([...pulled].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    writeFileSync(join(this.path, RECORD), `${JSON.stringify({ documents }, null, 2)}\n`)
  }

  #files(folder: string): readonly string[] {
    const path = join(this.path, folder)
    if (!existsSync(path)) return []
    return readdirSync(path)
      .filter((name) => /\.(?:json|ya?ml)$/.test(name))
      .toSorted()
      .map((name) => join(path, name))
  }
}

/** Equal for documents that differ in the order of their members only. */
export function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isPlainObject(value)) return value
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]))
}

export async function documentAt(path: string): Promise<Document> {
  const text = readFileSync(path, 'utf8')
  const value: unknown = /\.ya?ml$/.test(path)
    ? (await import('yaml')).parse(text, { maxAliasCount: 100, uniqueKeys: true })
    : JSON.parse(text)
  if (isPlainObject(value)) return value
  throw new AppError('USAGE', 'the file is not an object; write one document in each file')
}
