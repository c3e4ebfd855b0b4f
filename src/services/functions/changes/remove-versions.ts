/** Deprecates, undeploys or removes versions. */
import type { NewJob } from '#jobs'
import { AppError } from '#kernel'
import type { Stored, Write } from '#storage'
import type { Removal } from '../contract.ts'
import { type FunctionRecord, updated } from '../function-record.ts'
import type { RemoveOptions } from '../function-schema.ts'
import { storedType } from '../jobs/job-data.ts'
import type { ChangeContext, Plan } from './change-context.ts'

/** ms between the deprecation of a version and the end of its processes */
const GRACE = 86_400_000
const MAX_AT_ONCE = 500

type Then = 'remove' | 'reset' | 'keep'

interface Step {
  readonly found: Stored<FunctionRecord>
  /** what to do with the version; undefined: only deprecate it */
  readonly then?: Then
  readonly isLater: boolean
}

export async function removeVersions(
  context: ChangeContext,
  name: string,
  version: string | undefined,
  options: RemoveOptions,
): Promise<Removal> {
  const { force = false, reset = false, undeploy } = options
  if ((force && reset) || (undeploy === true && (force || reset)) || (undeploy === false && reset)) {
    throw new AppError('VALIDATION', 'force, reset and undeploy exclude each other')
  }
  const records = await context.chosen(name, version)
  if (records.length > MAX_AT_ONCE)
    throw new AppError('VALIDATION', `'${name}' has more than ${MAX_AT_ONCE} versions: remove them one by one`)
  const steps: Step[] = []
  for (const one of records) steps.push(stepOf(await context.stored(one.name, one.version), options))
  // check all versions before changing any
  for (const { found, then, isLater } of steps)
    if (then !== undefined && !isLater) await refuseUsed(context, found.value)
  const writes: Write[] = []
  const [now, later]: readonly [Plan[], Plan[]] = [[], []]
  for (const step of steps) {
    const { changed, plan } = carryOut(context, step, options)
    writes.push(...context.store.putting(changed, step.found.version))
    if (plan !== undefined) (step.isLater ? later : now).push(plan)
  }
  const going = together(context, name, now)
  await context.commit(writes, going, ...later)
  const label = version === undefined ? `'${name}'` : `version '${name}@${version}'`
  return {
    message: `${going === undefined ? 'Deprecated' : 'Removing'} ${context.noun} ${label}`,
    versions: records.map((one) => one.version),
    ...(going && { job: { type: going.type, id: going.ids[0] ?? '' } }),
  }
}

function stepOf(found: Stored<FunctionRecord>, { force = false, reset = false, undeploy }: RemoveOptions): Step {
  const { draft, type } = found.value
  if (force) return { found, then: 'remove', isLater: false }
  if (reset) return { found, then: 'reset', isLater: false }
  if (undeploy === true) return { found, then: 'keep', isLater: false }
  if (undeploy === false) return { found, isLater: false }
  if (draft) return { found, then: 'remove', isLater: false }
  // rules keep using a deprecated plug; uses of other functions are unknown
  return { found, then: type === 'plugs' ? 'keep' : 'remove', isLater: true }
}

function carryOut(
  context: ChangeContext,
  { found: { value: record }, then, isLater }: Step,
  { reset = false, comment }: RemoveOptions,
): { readonly changed: FunctionRecord; readonly plan?: Plan | undefined } {
  const runtime = { name: record.manifest.runtime, version: record.runtimeVersion }
  if (isLater || then === undefined) {
    const kind = context.type === 'plugs' ? 'cleanup' : 'undeploy'
    const plan = then && context.plan([kind], record, { operation: 'deprecate', runtime, then, delay: GRACE })
    const changed = updated(record, context.update('deprecate', { comment, plan }), { deprecated: true })
    return { changed, plan }
  }
  const plan = context.plan(['undeploy'], record, { operation: 'undeploy', runtime, then })
  const isDeprecated = !record.draft && !record.deprecated && !reset
  const updates = [
    context.update('undeploy', { comment, plan }),
    ...(isDeprecated ? [context.update('deprecate', { comment })] : []),
  ]
  const changed = updated(record, updates, { status: 'undeploying', deprecated: isDeprecated || record.deprecated })
  return { changed, plan }
}

function together(context: ChangeContext, name: string, plans: readonly Plan[]): Plan | undefined {
  const [first] = plans
  if (plans.length < 2 || first === undefined) return first
  const id = context.newJobId()
  const data = { name, functionType: context.type, childType: 'undeploy', operation: 'undeploy' }
  const { user } = context.who
  const labels = [context.type, `${context.type}/${name}`]
  const job: NewJob = { type: storedType('batch'), id, user, data, labels, children: plans.map((one) => one.job) }
  return { job, type: 'batch', ids: [id] }
}

async function refuseUsed(context: ChangeContext, { type, name, version }: FunctionRecord): Promise<void> {
  const uses = await context.dependencies.usesOf({ type, name, version })
  if (uses === 0) return
  const users = uses === 1 ? 'one task or template' : `${uses} tasks and templates`
  throw new AppError('CONFLICT', `'${name}@${version}' is used by ${users}; switch to another version first`)
}
