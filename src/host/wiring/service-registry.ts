/** How services find each other within a tenant, and how the host finds the services of a tenant. */
import { readPartitionName } from '#cluster'
import { AppError, type Caller } from '#kernel'
import { TenantLog } from '#log'
import type { InternalAlarms } from '#services/alarms/contract'
import type { InternalBroker } from '#services/broker/contract'
import type { InternalFunctions } from '#services/functions/contract'
import type { InternalConverter } from '#services/converter/contract'
import type { InternalModels } from '#services/models/contract'
import type { InternalObjects } from '#services/objects/contract'
import type { InternalSubscriptions, TransfersService } from '#services/objects'
import type { InternalQueries } from '#services/queries/contract'
import type { InternalResources } from '#services/resources/contract'
import type { HostedResources } from '#services/resources'
import type { InternalRules } from '#services/rules/contract'
import type { InternalVault } from '#services/vault/contract'
import type { WebscriptsService } from '#services/webscripts/contract'
import type { DurableRunner, Relay, TaskRunner } from '#services/rules'
import type { Store } from '#storage'

/**
 * The services of one tenant, as far as they are served. Each is put in where it is made; the adapters between them look
 * here when they are called, not before, so that the order of making does not matter.
 */
export interface ServiceRegistry {
  /** what broker and rules write to */
  log?: TenantLog
  rules?: InternalRules
  runner?: TaskRunner
  /** what runs the tasks, as far as its figures are concerned */
  running?: {
    readonly runner: Pick<DurableRunner, 'queued' | 'waiting' | 'counts' | 'stats' | 'inputs'>
    /** messages and calls of rules that were refused because too many came of one arrival */
    readonly refusedDescendants: () => number
  }
  broker?: InternalBroker
  resources?: InternalResources
  alarms?: InternalAlarms
  functions?: InternalFunctions
  webscripts?: WebscriptsService
  converter?: InternalConverter
  queries?: InternalQueries
  models?: InternalModels
  objects?: InternalObjects
  subscriptions?: InternalSubscriptions
  transfers?: TransfersService
  vault?: InternalVault
  /** what works beside the resources: commands for the broker, templates that tasks wait for */
  work?: Pick<HostedResources, 'outbox' | 'templateWritten'>
  /** of one of several partitions of a tenant: what it takes from others and hands to them */
  relay?: Relay
}

/** The log of a tenant, whoever of its services asks first. */
export function logOf(services: ServiceRegistry, store: Store): TenantLog {
  return (services.log ??= new TenantLog(store))
}

/** What the tenants of a host have of its services. */
export interface Tenants {
  /** Of a tenant, or of one of its partitions (`partitionName`). Throws `FENCED` when it is not open here. */
  of(tenant: string): ServiceRegistry
  /** For requests without credentials, which may name any tenant: undefined when it is known that none has that name. */
  find(tenant: string): ServiceRegistry | undefined
  /** Resolves when it is open here. Rejects when it cannot be. */
  opened(tenant: string): Promise<unknown>
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
