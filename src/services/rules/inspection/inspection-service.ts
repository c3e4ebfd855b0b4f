/** Inspects running tasks, and sends commands to their nodes. */
import type { NodeView } from '#core'
import { explained } from '#core/sentences'
import { applyOverrides, plugOfNode, Report, type RuleGraph } from '#core/spi'
import { AppError, isPlainObject } from '#kernel'
import { allDeliveries } from './all-deliveries.ts'
import type { InspectionApi } from '../contract.ts'
import type { RuntimeNode } from './inspection-schema.ts'
import { runtimeNode } from './runtime-node.ts'
import { logPage } from './task-log.ts'
import { runningTask, taskOf } from '../tasks/task-service.ts'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { TaskPast } from '../runner.ts'
import type { TenantRules } from '../tenant-rules.ts'

const GATE_STATES = ['TRUE', 'FALSE']

export function inspectionApi(rules: TenantRules): InspectionApi {
  const { maker, show, forms, history, options } = rules
  const { nodes } = options.runner

  const graphOf = async (task: TaskRecord): Promise<RuleGraph> =>
    applyOverrides(await show.graph(task), task.settings.nodes ?? [], '/nodes', new Report())

  const node = async (task: TaskRecord, label: string): Promise<RuntimeNode> => {
    const graph = await graphOf(task)
    const [view] = nodes.view(task.id, label)
    const network = forms.of(graph, [], 'bn')
    const listed: readonly unknown[] = Array.isArray(network['nodes']) ? network['nodes'] : []
    const found = listed.find((each) => isPlainObject(each) && each['name'] === label)
    if (isPlainObject(found)) return runtimeNode(found, view)
    const actuator = graph.actuators?.find((each) => each.label === label)
    if (actuator === undefined) throw noNode(task.id, label, graph)
    return actuatorNode(actuator, view)
  }

  return {
    node: async (id, label) => node(await taskOf(rules, id), label),
    states: async (id, label) => {
      const graph = await graphOf(await taskOf(rules, id))
      const sensor = graph.sensors?.find((each) => each.label === label)
      if (sensor) {
        const plug = maker.plugs.find('sensor', sensor.name, sensor.version)
        return plug === undefined ? [] : plugOfNode(plug, sensor.properties).states
      }
      if (graph.relations?.some((each) => each.label === label)) return GATE_STATES
      if (graph.actuators?.some((each) => each.label === label)) return []
      throw noNode(id, label, graph)
    },
    push: async (id, label, { state, rawData }) => {
      const task = await runningTask(rules, id, `push to ${label}`)
      await nodes.push(id, label, { ...(state !== undefined && { state }), ...(rawData && { rawData }) })
      return node(task, label)
    },
    command: async (id, label, { state = '', operation }) => {
      const task = await runningTask(rules, id, `apply ${operation ?? state} to ${label}`)
      if (operation === undefined) await nodes.push(id, label, { state })
      else await nodes.command(id, label, operation)
      return node(task, label)
    },
    explain: async (id, label, at) => {
      const task = await taskOf(rules, id)
      if (at !== undefined) return explained(await pastOf(rules).explain(id, label, at))
      if (task.epoch === 0) throw new AppError('WRONG_STATUS', `task ${id} has not been started`)
      return explained(nodes.explain(id, label))
    },
    log: async (query) => {
      await taskOf(rules, query.taskId)
      return logPage(history.events(query.taskId), query)
    },
    events: async function* (id, reader) {
      await taskOf(rules, id)
      yield* history.stream(id, options.now(), reader)
    },
    inputs: async (id, query = {}) => {
      await taskOf(rules, id)
      return pastOf(rules).inputs(id, query)
    },
    state: async (id, at) => {
      await taskOf(rules, id)
      return pastOf(rules).state(id, at)
    },
    deliveries: async (id, query) => {
      await taskOf(rules, id)
      const { limit } = query
      const found = await nodes.deliveries(id, { ...query, limit: limit + 1 })
      const values = found.slice(0, limit)
      const last = values.at(-1)
      return { values, ...(last !== undefined && found.length > limit && { next: last.id }) }
    },
    allDeliveries: (query) => allDeliveries(rules, query),
    retry: async (id, delivery) => {
      await taskOf(rules, id)
      return nodes.retry(id, delivery)
    },
  }
}

function pastOf({ options }: TenantRules): TaskPast {
  const { past } = options.runner
  if (past === undefined) throw new AppError('UNSUPPORTED', 'this runner does not keep the inputs of tasks')
  return past
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
