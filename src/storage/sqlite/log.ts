/** Reads and trims a log of one tenant. */
import { type Json, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { LogMedium } from '../checked-store.ts'
import type { LogEntry } from '../contract.ts'
import type { Opened } from './opened.ts'
import type { LogRows } from './read-log.ts'
import type { StoreRead } from './reader.ts'

type LogRead = Extract<StoreRead, { readonly of: 'log' }>['read']

export function sqliteLog({ readers, trim }: Opened, tenant: string, log: string): LogMedium {
  const read = <Answer>(one: LogRead): Promise<Answer> => readers.read<Answer>({ of: 'log', read: one })
  return {
    async read(partition, after, limit) {
      const { from, rows } = await read<LogRows>({ kind: 'entries', tenant, log, partition, after, limit })
      const parsed = await new Yielder(machineTimers).map(rows, ([last, count, bodies]) =>
        (JSON.parse(bodies) as readonly Json[]).map((body, i): LogEntry => ({ position: last - count + 1 + i, body })),
      )
      return parsed
        .flat()
        .filter((entry) => entry.position >= from)
        .slice(0, limit)
    },
    bounds: (partition) => read({ kind: 'bounds', tenant, log, partition }),
    partitions: () => read({ kind: 'partitions', tenant, log }),
    trim: (partition, upTo) => trim(tenant, log, partition, upTo),
  }
}
