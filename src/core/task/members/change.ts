/** Lets members join and leave a group while its task runs. */
import { makePlan } from '../../graph/plan.ts'
import type { GateNode, SensorNode } from '../../graph/graph.ts'
import { beginEvaluation } from '../evaluation.ts'
import { cancel } from '../execution.ts'
import type { MemberChanges } from '../input.ts'
import { invoke } from '../invocation.ts'
import type { Origin } from '../origin.ts'
import type { TaskRun } from '../run.ts'
import { traceLog } from '../trace.ts'
import { MAX_MEMBERS } from './group-state.ts'
import { load } from './load.ts'

export interface MemberChange {
  readonly id: string
  readonly joins: boolean
}

/** Processes changes up to the first that decides something; the others wait as the next input. */
export function changeMembers(run: TaskRun, input: MemberChanges): void {
  const { group, changes, from } = input
  const { members, node } = run.state.groups[group] ?? {}
  if (changes.length === 0 && members?.size === 0)
    traceLog(run, 'WARN', `the group ${node?.key ?? ''} has no members, so that its sensors observe nothing`)
  for (let i = from; i < changes.length; i++) {
    const change = changes[i] as MemberChange // i is below length
    const hasBegun = change.joins ? join(run, group, change.id) : leave(run, group, change.id)
    if (!hasBegun || i + 1 === changes.length) continue
    const rest = { time: run.at, number: 0, input: { ...input, from: i + 1 } }
    run.state.waiting = [rest, ...run.state.waiting]
    return
  }
}

/** Returns whether an evaluation began. */
function join(run: TaskRun, index: number, id: string): boolean {
  const group = run.state.groups[index]
  const member = group?.join(id)
  if (group === undefined || member === undefined) {
    if (group?.members.size === MAX_MEMBERS && !group.members.has(id))
      traceLog(run, 'ERROR', `${id} cannot join the group ${group.node.key}: it has ${MAX_MEMBERS} members, the limit`)
    return false
  }
  const { atJoin, counts } = group.node
  const origin: Origin = { kind: 'join', time: run.now, resource: id }
  if (atJoin.length > 0) {
    load(run, index, member)
    const selected = new Map<SensorNode, Origin>(atJoin.map((node) => [node, origin]))
    invoke(run, makePlan(atJoin), [origin], selected)
    return true
  }
  // A member whose state is unknown makes relations unknown that need all states.
  return run.model.settings.gatesNeedFullObservation && decideAll(run, counts, origin)
}

function leave(run: TaskRun, index: number, id: string): boolean {
  const group = run.state.groups[index]
  const member = group?.members.get(id)
  if (group === undefined || member === undefined) return false
  load(run, index, member)
  for (const { running } of member.sensors) if (running !== null) cancel(run, running)
  load(run, index, null)
  const wasKnown = group.leave(member)
  const isDecided = wasKnown || run.model.settings.gatesNeedFullObservation
  const origin: Origin = { kind: 'leave', time: run.now, resource: id }
  const { gathering, counts } = group.node
  if (gathering.length === 0) return isDecided && decideAll(run, counts, origin)
  const selected = new Map<SensorNode, Origin>(gathering.map((node) => [node, origin]))
  invoke(run, makePlan(gathering), [origin], selected, isDecided ? counts : [])
  return true
}

function decideAll(run: TaskRun, gates: readonly GateNode[], origin: Origin): boolean {
  if (gates.length === 0) return false
  run.state.invocations++
  run.state.lastExecutionTime = run.now
  const counting = new Map(gates.map((gate) => [gate, origin]))
  beginEvaluation(run, { invocation: run.state.invocations, counting })
  return true
}
