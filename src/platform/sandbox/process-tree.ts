/** What Linux tells of a process and of all that it started, by whichever of its threads; elsewhere nothing is known. */
import { readdirSync, readFileSync } from 'node:fs'

export interface TreeProcess {
  readonly pid: number
  /** ms: its own, and that of children that ended */
  readonly cpuMs: number
  /** it ended, and whoever started it did not ask how */
  readonly isOver: boolean
}

/** ms of one tick: what /proc counts in is a hundredth of a second on every machine */
const TICK_MS = 10
/** of the fields behind the name of the program: user and system time, its own and that of children that ended */
const TIMES = [11, 12, 13, 14] as const

/** The process first; empty when there is none, or nothing is told of it. */
export function processTree(pid: number): readonly TreeProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // the name, which may have anything in it, ends with the last bracket
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const cpuMs = TIMES.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0) * TICK_MS
    return [{ pid, cpuMs, isOver: fields[0] === 'Z' || fields[0] === 'X' }, ...childrenOf(pid).flatMap(processTree)]
  } catch {
    return []
  }
}

/** ms of CPU time of a process and of all that it started. */
export function cpuMsOf(tree: readonly TreeProcess[]): number {
  return sumOf(tree, ({ cpuMs }) => cpuMs)
}

/** The kernel lists children by the thread that started them. */
function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = textOf(`/proc/${pid}/task/${thread}/children`).split(' ')
    return children.filter((child) => child.trim() !== '').map(Number)
  })
}

/** KiB that processes have taken beside files, all together: what several of them share counts once. */
export function memoryKibOf(pids: readonly number[], enoughKib: number): number {
  const upperKib = sumOf(pids, (pid) => fieldsOf(textOf(`/proc/${pid}/status`), RESIDENT))
  // an exact figure takes the kernel a walk over their pages
  if (upperKib <= enoughKib) return upperKib
  return sumOf(pids, (pid) => {
    const rollup = textOf(`/proc/${pid}/smaps_rollup`)
    return rollup === '' ? fieldsOf(textOf(`/proc/${pid}/status`), RESIDENT) : fieldsOf(rollup, PROPORTIONAL)
  })
}

const RESIDENT = /^(?:RssAnon|RssShmem):\s+(\d+) kB$/gm
const PROPORTIONAL = /^(?:Pss_Anon|Pss_Shmem):\s+(\d+) kB$/gm

function fieldsOf(text: string, fields: RegExp): number {
  return sumOf([...text.matchAll(fields)], ([, kib]) => Number(kib))
}

function sumOf<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((sum, value) => sum + of(value), 0)
}

/** Empty when its process or thread has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
