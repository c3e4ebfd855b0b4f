/** Finds the sensors that a message may run: sensors on its resource, and sensors on groups that contain its resource. */
import type { DataPlan } from '../../graph/graph.ts'
import type { Message } from '../origin.ts'
import type { TaskRun } from '../run.ts'

export interface Target {
  /** index of the stream that the message belongs to: resources first, then groups */
  readonly index: number
  readonly dataPlan: DataPlan | undefined
}

export function targetsOf(
  { model, state }: Pick<TaskRun, 'model' | 'state'>,
  { resource }: Message,
): readonly Target[] {
  const index = model.resources.indexOf(resource)
  const own: readonly Target[] = index === -1 ? [] : [{ index, dataPlan: model.dataPlans[index] }]
  if (state.groups.length === 0) return own
  const ofGroups = state.groups.flatMap(({ members, node }, group) =>
    members.has(resource) ? [{ index: model.resources.length + group, dataPlan: node.dataPlan }] : [],
  )
  return [...own, ...ofGroups]
}
