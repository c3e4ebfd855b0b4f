/** CPU time of other processes, on Linux. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresServer } from '../../test/support/start-postgres.ts'

/** kernel ticks per second */
const TICKS = 100

/** us over all processes of a PostgreSQL, including ended ones. */
export function cpuOfServer({ url }: Pick<PostgresServer, 'url'>): number {
  const folder = join(new URL(url).searchParams.get('host') ?? '', 'data')
  return cpuOf(readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isIn(pid, folder)))
}

/** us; 0 for an ended process. */
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

function cpuOfProcess(pid: number | string | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place]), 0) * (1_000_000 / TICKS)
  } catch {
    return 0
  }
}
