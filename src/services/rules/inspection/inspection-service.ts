/** A look into a task at work, and a hand on its nodes. */
import type { NodeView } from '#core'
import { applyOverrides, Report, type RuleGraph } from '#core/spi'
import { AppError, isPlainObject } from '#kernel'
import type { TenantCollections } from '../collections.ts'
import type { InspectionApi } from '../contract.ts'
import type { NodeCommand, RuntimeNode } from './inspection-schema.ts'
import type { TaskRef } from '../runner.ts'
import { runtimeNode } from './runtime-node.ts'
import { logPage } from './task-log.ts'
import { runningTask, taskOf, type TaskDependencies } from '../tasks/task-service.ts'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { TaskEventHistory } from '../tasks/task-event-history.ts'

export interface InspectionDependencies extends TaskDependencies {
  readonly history: TaskEventHistory
  readonly now: () => number
}

const GATE_STATES = ['TRUE', 'FALSE']

export function inspectionApi(dependencies: InspectionDependencies, collections: TenantCollections): InspectionApi {
  const { maker, show, forms, nodes, history, now } = dependencies
  const refOf = (id: string): TaskRef => ({ tenant: collections.tenant, id })

  const graphOf = async (task: TaskRecord): Promise<RuleGraph> =>
    applyOverrides(await show.graph(collections, task), task.settings.nodes ?? [], '/nodes', new Report())

  const node = async (task: TaskRecord, label: string): Promise<RuntimeNode> => {
    const graph = await graphOf(task)
    const [view] = nodes.view(refOf(task.id), label)
    const network = forms.of(graph, [], 'bn')
    const listed: readonly unknown[] = Array.isArray(network['nodes']) ? network['nodes'] : []
    const found = listed.find((each) => isNamed(each, label))
    if (isPlainObject(found)) return runtimeNode(found, view)
    const actuator = graph.actuators?.find((each) => each.label === label)
    if (actuator === undefined) throw noNode(task.id, label, graph)
    return actuatorNode(actuator, view)
  }

  return {
    node: async (id, label) => node(await taskOf(collections, id), label),
    states: async (id, label) => {
      const graph = await graphOf(await taskOf(collections, id))
      const sensor = graph.sensors?.find((each) => each.label === label)
      if (sensor) return maker.plugs.find('sensor', sensor.name, sensor.version)?.states ?? []
      if (graph.relations?.some((each) => each.label === label)) return GATE_STATES
      if (graph.actuators?.some((each) => each.label === label)) return []
      throw noNode(id, label, graph)
    },
    push: async (id, label, { state, rawData }) => {
      const task = await runningTask(collections, id, `push to ${label}`)
      await nodes.push(refOf(id), label, { ...(state !== undefined && { state }), ...(rawData && { rawData }) })
      return node(task, label)
    },
    command: async (id, label, command) => {
      const task = await runningTask(collections, id, `apply ${wordOf(command)} to ${label}`)
      if (command.state !== undefined) await nodes.push(refOf(id), label, { state: command.state })
      else await nodes.command(refOf(id), label, command.operation)
      return node(task, label)
    },
    explain: async (id, label) => {
      const task = await taskOf(collections, id)
      if (task.epoch === 0) throw new AppError('WRONG_STATUS', `task ${id} has not been started`)
      return nodes.explain(refOf(id), label)
    },
    log: async (query) => {
      await taskOf(collections, query.taskId)
      return logPage(history.events(refOf(query.taskId)), query)
    },
    events: (id, options) =>
      later(async () => {
        await taskOf(collections, id)
        return history.stream(refOf(id), now(), options)
      }),
    deliveries: async (id, query) => {
      await taskOf(collections, id)
      return nodes.deliveries(refOf(id), query)
    },
  }
}

async function* later<T>(open: () => Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await open()
}

function wordOf(command: NodeCommand): string {
  return command.state ?? command.operation
}

function isNamed(node: unknown, label: string): boolean {
  return isPlainObject(node) && node['name'] === label
}

function actuatorNode(
  { label, name, version, properties }: NonNullable<RuleGraph['actuators']>[number],
  view: NodeView | undefined,
): RuntimeNode {
  return runtimeNode(
    {
      name: label,
      properties: { ...properties, sensor: { name, ...(version !== undefined && { version }) } },
    },
    view,
  )
}

function noNode(id: string, label: string, graph: RuleGraph): AppError {
  const all = [...(graph.sensors ?? []), ...(graph.relations ?? []), ...(graph.actuators ?? [])]
  const labels = all.map((each) => each.label).join(', ')
  return new AppError('NOT_FOUND', `task ${id} has no node ${label}; it has ${labels}`)
}
