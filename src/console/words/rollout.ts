/** Roll-outs in words. */
import type { Rollout, RolloutSummary } from '#services/rules/contract'
import { countText } from './numbers.ts'

const STATES: Readonly<Record<RolloutSummary['status'], string>> = {
  starting: 'is starting',
  running: 'runs',
  promoting: 'is being promoted',
  promoted: 'is promoted',
  rollingBack: 'is being rolled back',
  rolledBack: 'is rolled back',
  stopping: 'is stopping',
  stopped: 'has stopped',
}

export function stateText({ mode, status }: Pick<RolloutSummary, 'mode' | 'status'>): string {
  const what = mode === 'all' ? 'The roll-out' : `The ${mode}`
  return `${what} ${STATES[status]}`
}

/** Answers whether the version behaves as the live one. */
export function rolloutAnswer({ template, version, comparison: { counts }, ...about }: Rollout): string {
  const different = counts.added + counts.removed + counts.moved
  const of = `version ${version} of ${template}`
  if (about.mode === 'all') return `${stateText(about)}: ${of}`
  if (different + counts.equal === 0) return `${stateText(about)}, and no version of ${template} has fired yet`
  if (different === 0) return `${stateText(about)}: ${of} fires as the former one, ${countText(counts.equal, 'time')}`
  return `${stateText(about)}: ${of} differs in ${countText(different, 'firing')}`
}

export function tasksText({ tasks: { selected, moved, failed } }: Pick<RolloutSummary, 'tasks'>): string {
  const parts = [countText(selected, 'task'), `${moved} moved`]
  return [...parts, ...(failed.length > 0 ? [`${failed.length} cannot run it`] : [])].join(', ')
}

export function isRunning({ status }: Pick<RolloutSummary, 'status'>): boolean {
  return status === 'starting' || status === 'running'
}

/** Whether its version is live because of it. */
export function canRollBack({ status }: Pick<RolloutSummary, 'status'>): boolean {
  return status === 'starting' || status === 'running' || status === 'promoting' || status === 'promoted'
}
