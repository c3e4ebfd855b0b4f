/** CPU time of a process and all that it started, as Linux tells it; elsewhere it is not known. */
import { readFileSync } from 'node:fs'

/** ms of one tick: what /proc counts in is a hundredth of a second on every machine */
const TICK_MS = 10
/** of the fields behind the name of the program: user and system time, its own and that of children that ended */
const TIMES = [11, 12, 13, 14] as const

/** ms; 0 when there is no such process, or nothing is told of it. */
export function cpuMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // the name, which may have anything in it, ends with the last bracket
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const own = TIMES.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0) * TICK_MS
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ')
    return children.reduce((sum, child) => (child.trim() === '' ? sum : sum + cpuMsOf(Number(child))), own)
  } catch {
    return 0
  }
}
