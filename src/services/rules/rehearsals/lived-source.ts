/** Finds where the lanes of a rehearsal begin in kept inputs, and what they read from there. */
import { createRegistry, type PlugRegistry } from '#core'
import type { InputRange, KeptInputs } from '../inputs/contract.ts'
import { SILENT, TaskReplay } from '../inputs/task-replay.ts'
import { dryPlugs } from '../tools/dry-plugs.ts'
import type { KeptRange } from './kept-range.ts'
import type { LaneOptions, LaneStart } from './lived-lane.ts'
import type { LivedOptions } from './lived-run.ts'
import type { RehearsalWork } from './rehearsal-work.ts'

export interface LivedSource {
  readonly initialState: 'cold' | 'warm'
  readonly forLanes: Pick<LaneOptions, 'limits' | 'start' | 'live'>
  readonly forRun: Pick<LivedOptions, 'live' | 'inputs' | 'selects' | 'from' | 'until'>
}

const END = Number.MAX_SAFE_INTEGER

export async function livedSource(
  { inputs, kept, plugs }: { inputs: KeptInputs; kept: KeptRange | undefined; plugs: PlugRegistry },
  { from, until, limits, live, initialState, calls }: RehearsalWork,
  bound: readonly string[],
  signal?: AbortSignal,
): Promise<LivedSource> {
  const warm = live && initialState === 'warm' ? await warmStart(inputs, live.task.id, from) : undefined
  const start = warm ?? { from }
  const tasks = live ? [live.task.id] : []
  const selects: InputRange =
    warm === undefined
      ? { from, until, resources: bound, tasks }
      : { after: positionBefore(warm), until, resources: bound, tasks }
  const copy = live && calls === 'recorded' ? await copyOf(live, { inputs, plugs, limits, from }) : undefined
  const forLanes = { limits, start, live: copy }
  const common = { live: copy, from, until }
  const state = warm === undefined ? 'cold' : 'warm'
  if (copy === undefined) {
    const read = warm === undefined && kept !== undefined ? kept.inputs(signal) : inputs.read(selects, signal)
    return { initialState: state, forLanes, forRun: { ...common, inputs: read } }
  }
  const resources = [...new Set([...copy.resources({ position: END }), ...bound])]
  const read = inputs.read({ after: copy.position, resources, tasks }, signal)
  return { initialState: state, forLanes, forRun: { ...common, inputs: read, selects } }
}

/** Returns the task as it was before `from`, or its first begin; undefined if neither is kept. */
async function warmStart(inputs: KeptInputs, id: string, from: number): Promise<LaneStart | undefined> {
  const since = await inputs.since()
  const checkpoint = await inputs.checkpoint(id, { at: from })
  if (checkpoint !== undefined && checkpoint.position >= (since?.position ?? 0) - 1) return { checkpoint }
  for await (const batch of inputs.read({ resources: [], tasks: [id] })) {
    const first = batch.find(({ input }) => 't' in input)
    if (first !== undefined) return first.input.k === 'begin' ? { begins: first } : undefined
  }
  return undefined
}

function positionBefore(start: LaneStart): number {
  if ('checkpoint' in start) return start.checkpoint.position
  return 'begins' in start ? start.begins.position - 1 : 0
}

function copyOf(
  { task, later }: NonNullable<RehearsalWork['live']>,
  { inputs, plugs, limits, from }: { inputs: KeptInputs; plugs: PlugRegistry } & Pick<RehearsalWork, 'limits' | 'from'>,
): Promise<TaskReplay> {
  const settings = { ...limits, ports: SILENT, plugs: createRegistry(dryPlugs(plugs.list(), new Set())) }
  const current = (id: string) => (id === task.id ? task : undefined)
  return TaskReplay.from({ settings, inputs, later: new Set(later), current }, task.id, { at: from })
}
