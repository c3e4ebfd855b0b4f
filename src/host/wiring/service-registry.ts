/** Registers the services of tenants, so that they can find each other and the host can find them. */
import { AppError, type Caller } from '#kernel'
import { TenantLog } from '#log'
import type { InternalAudit } from '#services/audit'
import type { InternalAlarms } from '#services/alarms/contract'
import type { HostedBroker } from '#services/broker'
import type { InternalCalendars } from '#services/calendars/contract'
import type { InternalConnectors } from '#services/connectors/contract'
import type { InternalFunctions } from '#services/functions/contract'
import type { InternalConverter } from '#services/converter/contract'
import type { InternalMaintenance } from '#services/maintenance/contract'
import type { InternalModels } from '#services/models/contract'
import type { InternalNotification } from '#services/notification/contract'
import type { Objects, Subscriptions, Transfers } from '#services/objects'
import type { PrometheusService } from '#services/prometheus/contract'
import type { InternalQueries } from '#services/queries/contract'
import type { InternalResources } from '#services/resources/contract'
import type { Resources } from '#services/resources'
import type { InternalRetention } from '#services/retention/contract'
import type { InternalRules } from '#services/rules/contract'
import type { InternalVault } from '#services/vault/contract'
import type { InternalWebscripts } from '#services/webscripts/contract'
import type { DurableRunner, TaskRunner } from '#services/rules'
import type { Store } from '#storage'
import type { Presence } from './presence.ts'

/** Served services of one tenant. Adapters read entries when called, so that the order of creation does not matter. */
export interface ServiceRegistry {
  log?: TenantLog
  rules?: InternalRules
  runner?: TaskRunner
  running?: {
    readonly runner: Pick<
      DurableRunner,
      'queued' | 'waiting' | 'counts' | 'failedCalls' | 'stats' | 'inputs' | 'firings'
    >
    readonly refusedDescendants: () => number
  }
  broker?: HostedBroker
  presence?: Presence
  resources?: InternalResources
  calendars?: InternalCalendars
  alarms?: InternalAlarms
  functions?: InternalFunctions
  webscripts?: InternalWebscripts
  converter?: InternalConverter
  connectors?: InternalConnectors
  maintenance?: InternalMaintenance
  notification?: InternalNotification
  queries?: InternalQueries
  models?: InternalModels
  objects?: Objects
  subscriptions?: Pick<Subscriptions, 'as' | 'gauges'>
  transfers?: Pick<Transfers, 'as'>
  vault?: InternalVault
  audit?: InternalAudit
  retention?: InternalRetention
  prometheus?: PrometheusService
  work?: Pick<Resources, 'outbox' | 'templateWritten'>
}

export function logOf(services: ServiceRegistry, store: Store): TenantLog {
  return (services.log ??= new TenantLog(store))
}

export interface Tenants {
  /** Throws `FENCED` when it is not open here. */
  of(tenant: string): ServiceRegistry
  /** Like `of`, for requests without credentials, which may name any tenant: undefined for an unknown tenant. */
  find(tenant: string): ServiceRegistry | undefined
  opened(tenant: string): Promise<unknown>
  all(): Iterable<ServiceRegistry>
}

export function ofCaller<A>(
  tenants: Tenants,
  pick: (registry: ServiceRegistry) => { as(caller: Caller): A } | undefined,
): { as(caller: Caller): A } {
  return {
    as: (caller) => served(pick(tenants.of(caller.tenant))).as(caller),
  }
}

export function served<S>(service: S | undefined): S {
  if (service === undefined) throw new AppError('CLOSED', 'this host does not serve that service')
  return service
}
