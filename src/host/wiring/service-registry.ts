/** How the services of one host find each other. */
import type { AlarmsService } from '#services/alarms/contract'
import type { BrokerService } from '#services/broker/contract'
import type { FunctionsService } from '#services/functions/contract'
import type { ConverterService } from '#services/converter/contract'
import type { ModelsService } from '#services/models/contract'
import type { ObjectsService } from '#services/objects/contract'
import type { SubscriptionsService, TransfersService } from '#services/objects'
import type { QueriesService } from '#services/queries/contract'
import type { ResourcesService } from '#services/resources/contract'
import type { HostedResources } from '#services/resources'
import type { RulesService } from '#services/rules/contract'
import type { VaultService } from '#services/vault/contract'
import type { WebscriptsService } from '#services/webscripts/contract'
import type { Relay, TaskRunner } from '#services/rules'

/**
 * The services of one host, as far as they are served. Each is put in where it is made; the adapters between them look
 * here when they are called, not before, so that the order of making does not matter.
 */
export interface ServiceRegistry {
  rules?: RulesService
  runner?: TaskRunner
  broker?: BrokerService
  resources?: ResourcesService
  alarms?: AlarmsService
  functions?: FunctionsService
  webscripts?: WebscriptsService
  converter?: ConverterService
  queries?: QueriesService
  models?: ModelsService
  objects?: ObjectsService
  subscriptions?: SubscriptionsService
  transfers?: TransfersService
  vault?: VaultService
  /** what works beside the resources: commands for the broker, templates that tasks wait for */
  work?: Pick<HostedResources, 'outbox' | 'templateWritten'>
  /** of one of several partitions of a tenant: what it takes from others and hands to them */
  relay?: Relay
}
