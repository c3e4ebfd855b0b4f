/** Keeps the content of a medium in memory after it is closed; `openMemory` can open it again. */
import { AppError } from '#kernel'
import { newerError } from '../tenant.ts'
import { compareText } from '../order.ts'
import type { KnownSpec } from '../spec.ts'
import { MemoryLogs } from './memory-logs.ts'
import type { MemoryObject } from './memory-objects.ts'
import { MemoryTable } from './memory-table.ts'
import { SeriesData } from './series-data.ts'

export interface TenantData {
  readonly tables: Map<string, MemoryTable>
  readonly logs: MemoryLogs
  readonly series: SeriesData
  touched: boolean
}

export class MemoryDisk {
  readonly #tenants = new Map<string, TenantData>()
  readonly #specs = new Map<string, KnownSpec>()
  readonly objects = new Map<string, Map<string, MemoryObject>>()
  #open = false

  /** Reserves the disk for one medium at a time. Throws `STORE` while another medium uses it. */
  take(): void {
    if (this.#open) {
      throw new AppError('STORE', 'The memory is in use by an open medium; close it first')
    }
    this.#open = true
  }

  release(): void {
    this.#open = false
  }

  tenant(id: string): TenantData {
    let data = this.#tenants.get(id)
    if (data === undefined) {
      data = { tables: new Map(), logs: new MemoryLogs(), series: new SeriesData(), touched: false }
      this.#tenants.set(id, data)
    }
    return data
  }

  tenants(): readonly string[] {
    const written = [...this.#tenants].filter(([, data]) => data.touched).map(([id]) => id)
    return written.sort(compareText)
  }

  /** Throws `STORE` when a newer specification was used before. */
  table(tenant: TenantData, known: KnownSpec): MemoryTable {
    this.#bring(known)
    let table = tenant.tables.get(known.name)
    if (table === undefined) {
      table = new MemoryTable(known)
      tenant.tables.set(known.name, table)
    }
    return table
  }

  #bring(known: KnownSpec): void {
    const before = this.#specs.get(known.name)
    if (before === known) return
    if (before !== undefined && before.version > known.version) {
      throw newerError(known.name, before.version, known.version)
    }
    for (const { tables } of this.#tenants.values()) tables.get(known.name)?.reindex(known)
    this.#specs.set(known.name, known)
  }
}
