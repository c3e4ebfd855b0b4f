/** How the services of one host find each other. */
import type { AlarmsService } from '../services/alarms/contract.ts'
import type { BrokerService } from '../services/broker/contract.ts'
import type { FunctionsService } from '../services/functions/contract.ts'
import type { ConverterService } from '../services/converter/contract.ts'
import type { ModelsService } from '../services/models/contract.ts'
import type { ObjectsService } from '../services/objects/contract.ts'
import type { TransfersService } from '../services/objects/etl/contract.ts'
import type { SubscriptionsService } from '../services/objects/subscriptions/contract.ts'
import type { QueriesService } from '../services/queries/contract.ts'
import type { ResourcesService } from '../services/resources/contract.ts'
import type { OperatedBackgroundWork } from '../services/resources/managed-tasks/create-background-work.ts'
import type { RulesService } from '../services/rules/contract.ts'
import type { VaultService } from '../services/vault/contract.ts'
import type { WebscriptsService } from '../services/webscripts/contract.ts'
import type { Relay } from '../services/rules/relay/relay.ts'
import type { TaskRunner } from '../services/rules/runner.ts'

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
  work?: OperatedBackgroundWork
  /** of one of several partitions of a tenant: what it takes from others and hands to them */
  relay?: Relay
}
