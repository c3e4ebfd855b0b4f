/** Shows a roll-out: its tasks, and how the firings of its version differ. */
import type { DiffTally } from '#core'
import type { Difference } from '#core/spi'
import { type Store, walk } from '#storage'
import { type DayCounts, Divergence, DIVERGENCES, type SavedDivergence, viewOf } from '../durable/divergence.ts'
import type { Shadows } from '../durable/shadows.ts'
import { ROLLOUT_TASKS, type RolloutRecord } from './rollout-record.ts'
import { MAX_DIFFERENCES, MAX_FAILED, type Rollout, type RolloutSummary } from './rollout-schema.ts'

export async function summaryOf(store: Store, record: RolloutRecord): Promise<RolloutSummary> {
  const { by: _by, replaced: _replaced, resources, ...head } = record
  const tasks = store.collection(ROLLOUT_TASKS)
  const mine = { field: 'rollout', op: 'eq', value: record.id } as const
  const [selected, moved, failed] = await Promise.all([
    tasks.count([mine]),
    tasks.count([mine, { field: 'moved', op: 'eq', value: 'true' }]),
    tasks.find({ where: [mine, { field: 'failed', op: 'eq', value: 'true' }], limit: MAX_FAILED }),
  ])
  const notice = record.status !== 'starting' && selected === 0 ? noTasks(record) : undefined
  return {
    ...head,
    ...(resources && { resources: [...resources] }),
    ...(notice !== undefined && { notice }),
    tasks: { selected, moved, failed: failed.map(({ value: { task, error = '' } }) => ({ task, error })) },
  }
}

function noTasks({ mode, template, percent, resources }: RolloutRecord): string {
  const what = mode === 'shadow' ? 'no task has a shadow' : 'no task was moved'
  if (resources !== undefined) return `${what}: no task of template ${template} has one of the resources`
  if (percent !== undefined && percent > 0) {
    return `${what}: no resource of template ${template} is in the share of ${percent} %; use a larger share`
  }
  if (percent === 0) return `${what}: the share is 0 %; use a larger share`
  return mode === 'shadow' ? `${what}: template ${template} has no tasks` : `${what}: all run the version already`
}

/** Shows divergence up to the present moment for tasks here, and as last stored for tasks of other hosts. */
export async function shownRollout(
  store: Store,
  shadows: Shadows,
  record: RolloutRecord,
  now: number,
): Promise<Rollout> {
  const found: { readonly difference: Difference; readonly resource: string | null }[] = []
  const nodes = new Map<string, DiffTally>()
  const day = { divergence: 0, errors: 0, alarms: 0 }
  const add = (saved: SavedDivergence, { divergence, errors, alarms }: DayCounts): void => {
    const { tallies, latest } = viewOf(saved, record.tolerance)
    for (const difference of latest) found.push({ difference, resource: saved.resource ?? null })
    for (const tally of tallies) addTally(nodes, tally)
    day.divergence += divergence
    day.errors += errors
    day.alarms += alarms
  }
  const mine = [{ field: 'rollout', op: 'eq', value: record.id }] as const
  const here = new Set<string>()
  for (const { shadow, divergence } of shadows.pairs) {
    if (divergence.head.rollout !== record.id) continue
    here.add(shadow)
    add(divergence.save(), divergence.day(now))
  }
  for await (const { id, value } of walk(store.collection(DIVERGENCES), mine)) {
    if (here.has(id)) continue
    const { rollout, task } = value
    add(value, new Divergence({ rollout, task, tolerance: record.tolerance }, value).day(now))
  }
  const newest = found.toSorted((a, b) => a.difference.time - b.difference.time).slice(-MAX_DIFFERENCES)
  const counts = { equal: 0, added: 0, removed: 0, moved: 0 }
  for (const { equal, onlyNew, onlyOld, moved } of nodes.values()) {
    counts.equal += equal
    counts.added += onlyNew
    counts.removed += onlyOld
    counts.moved += moved
  }
  const of = (kind: Difference['kind']) =>
    newest.flatMap(({ difference, resource }) =>
      difference.kind === kind ? [shownDifference(difference, resource)] : [],
    )
  return {
    ...(await summaryOf(store, record)),
    comparison: {
      counts,
      added: of('onlyNew'),
      removed: of('onlyOld'),
      moved: of('moved'),
      nodes: [...nodes.values()].toSorted((a, b) => (a.node < b.node ? -1 : 1)),
      day,
    },
  }
}

function shownDifference(difference: Difference, resource: string | null) {
  const about = { time: difference.time, resource, node: difference.node }
  if (difference.kind === 'onlyNew') return { ...about, firing: difference.new }
  if (difference.kind === 'onlyOld') return { ...about, other: difference.old }
  return { ...about, by: difference.by, firing: difference.new, other: difference.old }
}

function addTally(all: Map<string, DiffTally>, tally: DiffTally): void {
  const sum = all.get(tally.node)
  if (sum === undefined) return void all.set(tally.node, { ...tally })
  sum.old += tally.old
  sum.new += tally.new
  sum.equal += tally.equal
  sum.moved += tally.moved
  sum.onlyOld += tally.onlyOld
  sum.onlyNew += tally.onlyNew
}
