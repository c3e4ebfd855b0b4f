/** Compares the files of a folder with the documents of a host, and decides what a pull or push does. */
import type { Client } from '#client'
import { AppError, type Difference, differenceOf } from '#kernel'
import { type FileDocument, hashOf, type Pulled, type RulesFolder } from './folder.ts'
import { type Document, type Kind, kindsFor } from './kinds.ts'

export interface Entry {
  readonly kind: Kind
  readonly id: string
  readonly file: FileDocument | undefined
  readonly host: Document | undefined
  /** true: the file differs from what was pulled or pushed last; also without a record of it */
  readonly fileChanged: boolean
  readonly hostChanged: boolean
}

export interface Compared {
  readonly entries: readonly Entry[]
  readonly pulled: Pulled
}

export async function compare(client: Client, folder: RulesFolder): Promise<Compared> {
  const kinds = kindsFor()
  const files = await folder.read(kinds)
  const pulled = folder.pulled()
  const entries: Entry[] = []
  for (const kind of kinds) {
    const ofKind = files.get(kind) ?? new Map<string, FileDocument>()
    const listed = await kind.list(client).catch((error: unknown) => {
      // the host does not serve this kind, as with --only
      if (error instanceof AppError && error.code === 'NOT_FOUND' && ofKind.size === 0) return []
      throw error
    })
    const host = new Map(listed.map((document) => [String(document[kind.key]), document]))
    const ids = [...new Set([...ofKind.keys(), ...host.keys()])].toSorted()
    for (const id of ids) {
      const [file, there] = [ofKind.get(id), host.get(id)]
      const base = pulled.get(nameOf(kind, id))
      const entry = { kind, id, file, host: there }
      entries.push({
        ...entry,
        fileChanged: (file && hashOf(file.document)) !== base?.file,
        hostChanged: (there && hashOf(there)) !== base?.host,
      })
    }
  }
  return { entries, pulled }
}

export function nameOf({ folder }: Kind, id: string): string {
  return `${folder}/${id}`
}

export function isEqual({ file, host, fileChanged, hostChanged }: Entry): boolean {
  if (file === undefined || host === undefined) return false
  return (!fileChanged && !hostChanged) || hashOf(file.document) === hashOf(host)
}

/** Changes from the host to the file. */
export function changesOf({ file, host }: Entry): readonly Difference[] {
  return file === undefined || host === undefined ? [] : differenceOf(host, file.document)
}
