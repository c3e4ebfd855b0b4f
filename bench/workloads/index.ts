/** The table of workloads, by the name that `--only` takes. A workload is made when it is asked for. */
import type { Workload } from '../workload.ts'
import { growthNamed } from './growth.ts'
import { w1 } from './w1.ts'
import { w1d } from './w1d.ts'
import { w2 } from './w2.ts'
import { w3 } from './w3.ts'
import { w4 } from './w4.ts'
import { w5 } from './w5.ts'
import { w7 } from './w7.ts'

const workloads: ReadonlyMap<string, () => Workload> = new Map<string, () => Workload>([
  ['w1', w1],
  ['w1d', w1d],
  ['w2', w2],
  ['w3', w3],
  ['w4', w4],
  ['w5', w5],
  ['w7', w7],
])

/** Also takes the names that `growthName` gives. Throws when there is none of that name. */
export function workloadNamed(name: string): Workload {
  const workload = workloads.get(name)?.() ?? growthNamed(name)
  if (workload === undefined) throw new Error(`there is no workload "${name}"`)
  return workload
}
