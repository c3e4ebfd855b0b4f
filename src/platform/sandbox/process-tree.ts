/** Reads a process and its descendants from /proc on Linux; empty elsewhere. */
import { readdirSync, readFileSync } from 'node:fs'

export interface TreeProcess {
  readonly pid: number
  /** ms: its own, and that of ended children */
  readonly cpuMs: number
  readonly isOver: boolean
}

/** ms per tick of /proc: a hundredth of a second on every machine */
const TICK_MS = 10
/** indexes of user and system time, of the process and of ended children, after the program name */
const TIMES = [11, 12, 13, 14] as const

/** The process first; empty when it does not exist. */
export function processTree(pid: number): readonly TreeProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // the name may hold any character and ends with the last bracket
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const cpuMs = TIMES.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0) * TICK_MS
    return [{ pid, cpuMs, isOver: fields[0] === 'Z' || fields[0] === 'X' }, ...childrenOf(pid).flatMap(processTree)]
  } catch {
    return []
  }
}

export function cpuMsOf(tree: readonly TreeProcess[]): number {
  return sumOf(tree, ({ cpuMs }) => cpuMs)
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = textOf(`/proc/${pid}/task/${thread}/children`).split(' ')
    return children.filter((child) => child.trim() !== '').map(Number)
  })
}

/** KiB of memory beside files, in total; shared memory counts once. */
export function memoryKibOf(pids: readonly number[], enoughKib: number): number {
  const upperKib = sumOf(pids, (pid) => fieldsOf(textOf(`/proc/${pid}/status`), RESIDENT))
  // an exact figure makes the kernel walk their pages
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

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
