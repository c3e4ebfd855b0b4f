/** Reads a process and its descendants from /proc on Linux; empty on other systems. */
import { readdirSync, readFileSync } from 'node:fs'

export interface TreeProcess {
  readonly pid: number
  /** CPU time in ms of the process and of its ended children */
  readonly cpuMs: number
  readonly isOver: boolean
}

/** Length of a tick in /proc: a hundredth of a second on every machine */
const TICK_MS = 10
/** Field indexes of user and system time, of the process and of its ended children, counted after the program name */
const TIMES = [11, 12, 13, 14] as const

/** Returns the process, followed by its descendants; empty when the process does not exist. */
export function processTree(pid: number): readonly TreeProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // the name may contain any character, and ends at the last bracket
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const cpuMs = TIMES.reduce((sum, index) => sum + Number(fields[index] ?? 0), 0) * TICK_MS
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

/** Returns the processes' total memory in KiB, without files; shared memory counts once. */
export function memoryKibOf(pids: readonly number[], enoughKib: number): number {
  const upperKib = sumOf(pids, (pid) => fieldsOf(textOf(`/proc/${pid}/status`), RESIDENT))
  // the exact number makes the kernel walk all pages, so read it only near the limit
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
