/** Implements the tools that need no stored task: plugs, data push, simulation, next runs. */
import type { Message, Template } from '#core'
import { AppError, type Caller } from '#kernel'
import { actingWith } from '#platform'
import { readBody } from '#services/shared'
import type { ToolApi } from '../contract.ts'
import { wireIssue } from '../error-body.ts'
import { plugNotFound, unknownTemplate } from '../error-texts.ts'
import { onePlug, plugEntity, plugsOfFamily } from './plug-entity.ts'
import type { TenantRules } from '../tenant-rules.ts'
import { isTemplateDocument, type PlugNode, parseResource, resolveResource } from '#core/spi'
import { taskConditions } from '../tasks/task-conditions.ts'
import type { TaskRecord } from '../tasks/task-record.ts'
import { DataPush, type PushOutcome, type PushedValue, RuleCheck } from './tools-schema.ts'

export function toolApi(rules: TenantRules, caller: Caller): ToolApi {
  const { collections, context, direct } = rules
  const { now } = rules.options
  const plugs = context.registry.list()
  const storedTemplate = async (name: string): Promise<Template> => {
    const stored = await collections.templates.get(name)
    if (stored === undefined) throw unknownTemplate(name)
    return stored.value.document
  }
  return {
    plugs: async (family) => {
      const found = plugsOfFamily(plugs, family)
      return found.filter(({ name }, i) => name !== found[i - 1]?.name).map(plugEntity)
    },
    plug: async (family, name, version) => plugEntity(onePlug(plugs, family, name, version)),
    versions: async (family, name) => {
      const found = plugsOfFamily(plugs, family).filter((plug) => plug.name === name)
      if (found.length === 0) throw plugNotFound(family, name)
      return found.map(plugEntity)
    },
    call: async (family, name, version, input, cause) => {
      onePlug(plugs, family, name, version)
      return actingWith(caller.rights, () => direct.call(family, name, version, input, cause))
    },
    check: async (input) => {
      const { rule, strict = false } = RuleCheck.read(readBody(input))
      const as = isTemplateDocument(rule) ? 'template' : 'rule'
      const { issues } = await direct.check(rule, { strict, as })
      return { valid: issues.every(({ severity }) => severity !== 'ERROR'), issues: issues.map(wireIssue) }
    },
    variables: (input) => direct.variables(input),
    push: (input) => pushData(rules, input),
    simulate: (input) => actingWith(caller.rights, () => direct.simulate(storedTemplate, input)),
    nextRuns: ({ expression, zone, from = now(), count, gap, overlap }) =>
      direct.nextRuns(expression, {
        from,
        ...(zone !== undefined && { zone }),
        ...(count !== undefined && { count }),
        dst: { ...(gap && { gap }), ...(overlap && { overlap }) },
      }),
  }
}

const MAX_TASKS = 10_000
const MAX_VALUES = 10_000

async function pushData(rules: TenantRules, input: unknown): Promise<PushOutcome> {
  const { resource, data, nodes } = DataPush.read(input)
  if (nodes !== undefined) return pushStates(rules, resource, nodes)
  let taken = false
  for (const message of messagesOf(resource, [data ?? []].flat())) {
    taken = (await rules.options.runner.intake.receive([{ messages: message }])).taken || taken
  }
  return { taken }
}

async function pushStates(
  { collections, show, options }: TenantRules,
  resource: string,
  nodes: NonNullable<DataPush['nodes']>,
): Promise<PushOutcome> {
  const where = taskConditions({ resource, status: 'running' })
  const found = await collections.tasks.find({ where, limit: MAX_TASKS })
  const reached: string[] = []
  const refused: string[] = []
  for (const { id, value } of found) {
    const graph = await show.graph(value)
    for (const { node, state } of nodes) {
      const sensor = graph.sensors?.find((each) => each.label === node && isBound(each, value, resource))
      if (sensor === undefined) continue
      try {
        await options.runner.nodes.push(id, node, { state })
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

/** Returns whether a node is bound to the resource; by default a node uses the task's resource. */
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
    // a reference in metadata that cannot be resolved here is assumed to lead to the resource
    if (error instanceof AppError) return true
    throw error
  }
}

/** Combines values of the same time into one message; a repeated name starts another message. */
function messagesOf(resource: string, values: readonly PushedValue[]): readonly Message[] {
  if (values.length > MAX_VALUES) {
    const text = `the request has ${values.length} values, more than ${MAX_VALUES}; send several requests`
    throw new AppError('TOO_LARGE', text)
  }
  const messages: Record<string, unknown>[] = []
  for (const { parameterName, value, collectedTime } of values) {
    let message = messages.at(-1)
    if (message === undefined || Object.hasOwn(message, parameterName) || message['timestamp'] !== collectedTime) {
      message = { resource, ...(collectedTime !== undefined && { timestamp: collectedTime }) }
      messages.push(message)
    }
    message[parameterName] = value
  }
  return messages as Record<string, unknown>[] & Message[]
}
