/** Data and states pushed past the broker (`POST /api/data`): read, and handed to the tasks they concern. */
import { parseResource, type PlugNode, resolveResource } from '#core/spi'
import type { Message } from '#core'
import { AppError, FORBIDDEN_KEYS, isInstant, isoInstant, isPlainObject, Issues, notAnInstant } from '#kernel'
import type { TenantCollections } from '../collections.ts'
import { badPushedData } from '../error-texts.ts'
import type { TaskRunner } from '../runner.ts'
import { taskConditions } from '../tasks/task-conditions.ts'
import type { TaskShow } from '../tasks/task-show.ts'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { PushOutcome } from './tools-schema.ts'

/** Running tasks that one push may reach. */
const MAX_TASKS = 10_000
const MAX_VALUES = 10_000
/** What a message says of itself: a value of that name would send it elsewhere. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['resource', 'timestamp'])

/** Sets a state of a task that another partition has; undefined when it is here. */
export type PushElsewhere = (id: string, node: string, state: string) => Promise<unknown> | undefined

export async function pushData(
  runner: TaskRunner,
  show: TaskShow,
  collections: TenantCollections,
  input: unknown,
  pushElsewhere?: PushElsewhere,
): Promise<PushOutcome> {
  if (!isPlainObject(input)) throw badPushedData()
  const { resource, nodes } = input
  if (nodes !== undefined) return pushStates(runner, show, collections, readStates(resource, nodes), pushElsewhere)
  const messages = readValues(resource, input['data'])
  // values of one moment are one message; a name given twice begins another
  let taken = false
  for (const message of messages) taken = (await runner.intake.receive(collections.tenant, message)).taken || taken
  return { taken }
}

interface PushedStates {
  readonly resource: string
  readonly nodes: readonly { readonly node: string; readonly state: string }[]
}

async function pushStates(
  { nodes: control }: TaskRunner,
  show: TaskShow,
  collections: TenantCollections,
  { resource, nodes }: PushedStates,
  pushElsewhere: PushElsewhere = () => undefined,
): Promise<PushOutcome> {
  const where = taskConditions({ resource, status: 'running' })
  const found = await collections.tasks.find({ where, limit: MAX_TASKS })
  const reached: string[] = []
  const refused: string[] = []
  for (const { id, value } of found) {
    const graph = await show.graph(collections, value)
    for (const { node, state } of nodes) {
      const sensor = graph.sensors?.find((each) => each.label === node && isBound(each, value, resource))
      if (sensor === undefined) continue
      try {
        const elsewhere = pushElsewhere(id, node, state)
        await (elsewhere ?? control.push({ tenant: collections.tenant, id }, node, { state }))
        if (reached.at(-1) !== id) reached.push(id)
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error
        refused.push(error.message)
      }
    }
  }
  if (reached.length === 0 && refused.length > 0) throw new AppError('INVALID_STATE', refused.slice(0, 20).join('; '))
  return { taken: reached.length > 0, tasks: reached }
}

/** Whether a node of a task means that resource; one without a resource means the task's. */
function isBound(node: PlugNode, task: TaskRecord, resource: string): boolean {
  const override = task.settings.nodes?.find(({ name }) => name === node.label)?.properties.resource
  try {
    const resolved = resolveResource(parseResource(override ?? node.resource ?? '$'), {
      taskId: task.id,
      taskResource: task.effective.resource,
      variable: (name) => task.effective.variables?.[name],
      metadata: () => undefined,
    })
    return resolved === resource
  } catch (error) {
    // what metadata refers to is among the task's resources, or it would not have been found
    if (error instanceof AppError) return true
    throw error
  }
}

function readStates(resource: unknown, nodes: unknown): PushedStates {
  const issues = issuesOf(resource)
  const list: { node: string; state: string }[] = []
  if (!Array.isArray(nodes)) issues.wrong('/nodes', 'nodes must be an array of { node, state }')
  else
    nodes.forEach((each: unknown, i) => {
      const { node, state } = isPlainObject(each) ? each : {}
      if (node === '') issues.wrong(`/nodes/${i}/node`, '"" is no node; a value of the message goes into data')
      else if (typeof node === 'string' && typeof state === 'string') list.push({ node, state })
      else issues.wrong(`/nodes/${i}`, 'expected an object with the texts node and state')
    })
  issues.throwIfAny('the push')
  return { resource: String(resource), nodes: list }
}

function readValues(resource: unknown, data: unknown): readonly Message[] {
  if (!Array.isArray(data) && !isPlainObject(data)) throw badPushedData()
  const issues = issuesOf(resource)
  const values: readonly unknown[] = Array.isArray(data) ? data : [data]
  if (values.length > MAX_VALUES) {
    throw new AppError(
      'TOO_LARGE',
      `${values.length} values are more than ${MAX_VALUES}; send them in several requests`,
    )
  }
  const messages: Record<string, unknown>[] = []
  values.forEach((each, i) => {
    const place = Array.isArray(data) ? `/data/${i}` : '/data'
    const { parameterName, value, collectedTime } = isPlainObject(each) ? each : {}
    if (typeof parameterName !== 'string' || parameterName === '' || FORBIDDEN_KEYS.has(parameterName)) {
      return issues.wrong(`${place}/parameterName`, 'expected the name of a value, as text')
    }
    if (OWN_FIELDS.has(parameterName)) {
      return issues.wrong(
        `${place}/parameterName`,
        `"${parameterName}" is the name of a field of the message itself`,
        'choose another name',
      )
    }
    if (value === undefined) return issues.wrong(`${place}/value`, 'there is no value')
    const time = timeOf(collectedTime)
    if (Number.isNaN(time)) {
      return issues.wrong(
        `${place}/collectedTime`,
        `${notAnInstant(collectedTime)}; expected epoch ms or an ISO 8601 time`,
      )
    }
    const last = messages.at(-1)
    const fits = last !== undefined && !Object.hasOwn(last, parameterName) && last['timestamp'] === time
    const message: Record<string, unknown> =
      fits && last ? last : { resource, ...(time !== undefined && { timestamp: time }) }
    if (message !== last) messages.push(message)
    message[parameterName] = value
  })
  issues.throwIfAny('the push')
  return messages as Record<string, unknown>[] & Message[]
}

function timeOf(collected: unknown): number | undefined {
  if (collected === undefined) return undefined
  if (typeof collected === 'number' && isInstant(collected)) return collected
  return typeof collected === 'string' ? isoInstant(collected) : Number.NaN
}

function issuesOf(resource: unknown): Issues {
  const issues = new Issues('TYPE')
  if (typeof resource !== 'string' || resource === '')
    issues.wrong('/resource', 'expected the id of a resource, as text')
  return issues
}
