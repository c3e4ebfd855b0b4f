/** How services find each other: those of one tenant, and those of a host what its tenants have of them. */
import { readPartitionName } from '#cluster'
import { AppError, type Caller } from '#kernel'
import type { OperatedAlarms } from '#services/alarms/contract'
import type { OperatedBroker } from '#services/broker/contract'
import type { OperatedFunctions } from '#services/functions/contract'
import type { OperatedConverter } from '#services/converter/contract'
import type { OperatedModels } from '#services/models/contract'
import type { OperatedObjects } from '#services/objects/contract'
import type { OperatedSubscriptions, TransfersService } from '#services/objects'
import type { OperatedQueries } from '#services/queries/contract'
import type { OperatedResources } from '#services/resources/contract'
import type { HostedResources } from '#services/resources'
import type { OperatedRules } from '#services/rules/contract'
import type { OperatedVault } from '#services/vault/contract'
import type { WebscriptsService } from '#services/webscripts/contract'
import type { DurableRunner, Relay, TaskRunner } from '#services/rules'

/**
 * The services of one tenant, as far as they are served. Each is put in where it is made; the adapters between them look
 * here when they are called, not before, so that the order of making does not matter.
 */
export interface ServiceRegistry {
  rules?: OperatedRules
  runner?: TaskRunner
  /** what runs the tasks, as far as its figures are concerned */
  running?: {
    readonly runner: Pick<DurableRunner, 'queued' | 'waiting' | 'counts' | 'stats'>
    /** messages and calls of rules that were refused because too many came of one arrival */
    readonly refusedDescendants: () => number
  }
  broker?: OperatedBroker
  resources?: OperatedResources
  alarms?: OperatedAlarms
  functions?: OperatedFunctions
  webscripts?: WebscriptsService
  converter?: OperatedConverter
  queries?: OperatedQueries
  models?: OperatedModels
  objects?: OperatedObjects
  subscriptions?: OperatedSubscriptions
  transfers?: TransfersService
  vault?: OperatedVault
  /** what works beside the resources: commands for the broker, templates that tasks wait for */
  work?: Pick<HostedResources, 'outbox' | 'templateWritten'>
  /** of one of several partitions of a tenant: what it takes from others and hands to them */
  relay?: Relay
}

/** What the tenants of a host have of its services. */
export interface Tenants {
  /** Of a tenant, or of one of its partitions (`partitionName`). Throws `FENCED` when it is not open here. */
  of(tenant: string): ServiceRegistry
  /** For whoever asks without credentials, and may name any: undefined when it is known that no host has that tenant. */
  find(tenant: string): ServiceRegistry | undefined
  /** of all that are open here */
  all(): Iterable<ServiceRegistry>
}

/** A service as routes reach it: what the tenant of the caller, or the partition that is named in its place, has of it. */
export function ofCaller<A>(
  tenants: Tenants,
  pick: (registry: ServiceRegistry) => { as(caller: Caller): A } | undefined,
): { as(caller: Caller): A } {
  return {
    as: (caller) => {
      const service = served(pick(tenants.of(caller.tenant)))
      const { tenant } = readPartitionName(caller.tenant)
      return service.as(tenant === caller.tenant ? caller : { ...caller, tenant })
    },
  }
}

/** `CLOSED` for what the host does not serve. */
export function served<S>(service: S | undefined): S {
  if (service === undefined) throw new AppError('CLOSED', 'this host does not serve that')
  return service
}
