/** The functions of one tenant in its store: records, and assets as objects that are called by their content. */
import { createHash } from 'node:crypto'
import { AppError } from '../../kernel/errors.ts'
import type { Collection, Store, Stored, Write } from '../../storage/contract.ts'
import { type AssetRecord, FUNCTIONS, type FunctionRecord, recordId } from './function-record.ts'
import type { Assets } from './registry/archive.ts'

const TRIES = 10
const PAGE = 1_000

export class FunctionStore {
  readonly store: Store
  readonly records: Collection<FunctionRecord>

  constructor(store: Store) {
    this.store = store
    this.records = store.collection(FUNCTIONS)
  }

  async all(): Promise<readonly FunctionRecord[]> {
    const found: FunctionRecord[] = []
    for (let afterId: string | undefined; ;) {
      const page = await this.records.find({ limit: PAGE, ...(afterId !== undefined && { afterId }) })
      for (const { value } of page) found.push(value)
      afterId = page.at(-1)?.id
      if (page.length < PAGE) return found
    }
  }

  /** All versions of a name. */
  async versions(name: string): Promise<readonly FunctionRecord[]> {
    const found = await this.records.find({ where: [{ field: 'name', op: 'eq', value: name }], limit: 10_000 })
    return found.map(({ value }) => value)
  }

  find(name: string, version: string): Promise<Stored<FunctionRecord> | undefined> {
    return this.records.get(recordId(name, version))
  }

  /** `NOT_FOUND` without it. */
  async get(name: string, version: string): Promise<FunctionRecord> {
    const found = await this.find(name, version)
    if (found === undefined) throw noVersion(name, version)
    return found.value
  }

  putting(record: FunctionRecord, expect: number | 'absent'): Write {
    return this.records.putting(recordId(record.name, record.version), record, expect)
  }

  /** Changes what is stored now; tried again when somebody else was faster. Undefined from `change`: leave it. */
  async change(
    name: string,
    version: string,
    change: (record: FunctionRecord) => FunctionRecord | undefined,
    commit: (writes: readonly Write[]) => Promise<unknown> = (writes) => this.store.commit(writes),
  ): Promise<FunctionRecord | undefined> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.find(name, version)
      const changed = found === undefined ? undefined : change(found.value)
      if (found === undefined || changed === undefined) return found?.value
      try {
        await commit([this.putting(changed, found.version)])
        return changed
      } catch (error) {
        const isRace = error instanceof AppError && error.code === 'CONFLICT'
        const now = isRace ? await this.find(name, version) : undefined
        // a conflict about something else is not ours
        if (!isRace || now?.version === found.version || attempt === TRIES) throw error
      }
    }
  }

  /** Stores contents; gives what names them, by path. */
  async putAssets(assets: Assets): Promise<readonly AssetRecord[]> {
    const records: AssetRecord[] = []
    for (const path of [...assets.keys()].sort()) {
      const content = assets.get(path) ?? new Uint8Array()
      const sha256 = createHash('sha256').update(content).digest('hex')
      const place = blobOf(sha256)
      if ((await this.store.blobs.info(place)) === undefined) await this.store.blobs.put(place, content)
      records.push({ path, size: content.length, sha256 })
    }
    return records
  }

  async assets(records: readonly AssetRecord[]): Promise<Assets> {
    const assets = new Map<string, Uint8Array>()
    for (const { path, sha256 } of records) assets.set(path, await this.#content(sha256, path))
    return assets
  }

  /** Takes away contents that no version has any more. */
  async dropAssets(records: readonly AssetRecord[]): Promise<void> {
    const used = new Set((await this.all()).flatMap(({ assets }) => assets.map(({ sha256 }) => sha256)))
    for (const { sha256 } of records) if (!used.has(sha256)) await this.store.blobs.delete(blobOf(sha256))
  }

  async #content(sha256: string, path: string): Promise<Uint8Array> {
    const found = await this.store.blobs.get(blobOf(sha256))
    if (found === undefined) throw new AppError('NOT_FOUND', `the content of ${path} is not stored any more`)
    const pieces: Uint8Array[] = []
    for await (const piece of found.content) pieces.push(piece)
    return Buffer.concat(pieces)
  }
}

export function noVersion(name: string, version: string): AppError {
  return new AppError('NOT_FOUND', `No plug '${name.slice(0, 100)}@${version.slice(0, 40)}'`)
}

export function noFunction(name: string): AppError {
  return new AppError('NOT_FOUND', `No plug '${name.slice(0, 100)}'`)
}

function blobOf(sha256: string): string {
  return `functions/${sha256}`
}
