/**
 * Saves what the properties of a firing read, until they are known, so that a retry after a restart resolves them from
 * the state at the firing.
 */
import { frozenRun } from './frozen-run.ts'
import { streamIndexOf, type TaskRun } from './run.ts'
import type { SavedFiringValues, SavedNodeValues, SavedStream } from './saved.ts'
import { actuatorState, observedState, sensorState, stateName, type Execution, type Stream } from './state.ts'

/** Returns undefined if the properties are known, or are read from the current state. */
export function saveFiringValues(
  execution: Execution,
  saveStream: (stream: Stream) => SavedStream,
): SavedFiringValues | undefined {
  const { node, seen, rendered } = execution
  if (seen === null || rendered !== null || node.call.isConstant) return undefined
  const run = seen as TaskRun
  const { labels, names } = readsOf(execution)
  const nodes = Object.fromEntries(labels.map((label) => [label, valuesOf(run, label)]))
  const streams = streamsRead(run, execution).flatMap((index) => {
    const stream = run.state.streams[index]
    if (!stream) return []
    const { values, at, carried = [] } = saveStream(stream)
    const read = Object.entries(values).filter(([key]) => names.has(key))
    const saved = { values: Object.fromEntries(read), at, carried: carried.filter(([key]) => names.has(key)) }
    return [[nameOf(run, execution, index), saved] as const]
  })
  return { now: run.now, nodes, streams: Object.fromEntries(streams) }
}

/** Returns a task restored to the time of the firing, as far as the properties read it. */
export function restoreFiringValues(run: TaskRun, execution: Execution, saved: SavedFiringValues): TaskRun {
  const { labels, names } = readsOf(execution)
  const seen = frozenRun({ model: run.model, state: run.state, sink: run.sink, now: saved.now, at: saved.now })
  for (const label of labels) setValues(seen, label, saved.nodes[label] ?? {})
  for (const index of streamsRead(run, execution)) {
    const stream = saved.streams[nameOf(run, execution, index)]
    seen.state.streams[index] = stream === undefined ? null : withRead(seen.state.streams[index], stream, names)
  }
  return seen
}

function readsOf({ node }: Execution): { readonly labels: readonly string[]; readonly names: ReadonlySet<string> } {
  const of = (...roots: string[]) =>
    node.call.uses.flatMap(({ root, segments: [name] }) => (name !== undefined && roots.includes(root) ? [name] : []))
  return { labels: of('nodes'), names: new Set(of('streamdata', 'variables')) }
}

/** Returns the resource of a stream; of a group's stream, the member for which the execution runs. */
function nameOf({ model }: TaskRun, { member }: Execution, index: number): string {
  return model.resources[index] ?? member ?? ''
}

function streamsRead({ model }: TaskRun, { node, origin }: Execution): readonly number[] {
  const indexes = [streamIndexOf(model, node), model.resources.indexOf(origin.resource ?? '')]
  return [...new Set(indexes)].filter((index) => index !== -1)
}

function withRead(stream: Stream | null | undefined, saved: SavedStream, names: ReadonlySet<string>): Stream {
  const others = Object.entries(stream?.values ?? {}).filter(([key]) => !names.has(key))
  const carried = [...(stream?.carried ?? [])].filter(([key]) => !names.has(key))
  const read = (saved.carried ?? []).map(([key, value, until]) => [key, { value, until }] as const)
  return {
    values: Object.fromEntries([...others, ...Object.entries(saved.values)]),
    at: saved.at,
    carried: new Map([...carried, ...read]),
  }
}

function valuesOf({ model, state }: TaskRun, label: string): SavedNodeValues {
  const node = model.graph.byLabel.get(label)
  if (node === undefined) return {}
  if (node.kind === 'actuator') {
    const { answer } = actuatorState(state, node)
    return answer === null ? {} : { answer }
  }
  const name = stateName(node, observedState(state, node).state)
  const known = name === null ? {} : { state: name }
  if (node.kind === 'gate') return known
  const { rawData, collectedTime } = sensorState(state, node)
  return { ...known, collectedTime, ...(rawData && { rawData }) }
}

function setValues({ model, state }: TaskRun, label: string, saved: SavedNodeValues): void {
  const node = model.graph.byLabel.get(label)
  if (node?.kind === 'actuator') actuatorState(state, node).answer = saved.answer ?? null
  else if (node !== undefined) {
    observedState(state, node).state = node.states.indexOf(saved.state ?? '')
    if (node.kind === 'gate') return
    const { rawData, collectedTime = -1 } = saved
    Object.assign(sensorState(state, node), { rawData, collectedTime })
  }
}
