/** Processes that others started, as Linux tells it. */
import { readdirSync, readFileSync } from 'node:fs'

export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
}

export function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1')
      .split(' ')
      .filter((child) => child.trim() !== '')
      .map(Number),
  )
}
