/** CPU time of processes of others, as Linux tells it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresServer } from '../../test/support/start-postgres.ts'

/** of the clock of the kernel for processes */
const TICKS = 100

/** us, of all processes of a PostgreSQL, those that ended included. */
export function cpuOfServer({ url }: Pick<PostgresServer, 'url'>): number {
  const folder = join(new URL(url).searchParams.get('host') ?? '', 'data')
  return cpuOf(readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isIn(pid, folder)))
}

/** us; of one that is gone, 0. */
export function cpuOf(pids: readonly (number | string | undefined)[]): number {
  return pids.reduce<number>((sum, pid) => sum + cpuOfProcess(pid), 0)
}

function isIn(pid: string, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false
  }
}

/** That of its children that ended is in it. */
function cpuOfProcess(pid: number | string | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place]), 0) * (1_000_000 / TICKS)
  } catch {
    return 0
  }
}
