/**
 * The client: the API of a host over fetch, as its services declare it in their contracts. It does not use Node, so it
 * runs wherever `fetch` exists.
 */
import { AppError } from '#kernel'
import { alarmsClient } from '#services/alarms/client'
import type { AlarmsApi } from '#services/alarms/contract'
import { auditClient } from '#services/audit/client'
import type { AuditApi } from '#services/audit/contract'
import { brokerClient } from '#services/broker/client'
import type { BrokerApi } from '#services/broker/contract'
import { calendarsClient } from '#services/calendars/client'
import type { CalendarsApi } from '#services/calendars/contract'
import { connectorsClient } from '#services/connectors/client'
import type { ConnectorsApi } from '#services/connectors/contract'
import { converterClient } from '#services/converter/client'
import type { ConverterApi } from '#services/converter/contract'
import { functionsClient, type FunctionsClient } from '#services/functions/client'
import { maintenanceClient } from '#services/maintenance/client'
import type { MaintenanceApi } from '#services/maintenance/contract'
import { modelsClient } from '#services/models/client'
import type { ModelsApi } from '#services/models/contract'
import { notificationClient } from '#services/notification/client'
import type { NotificationApi } from '#services/notification/contract'
import {
  objectsClient,
  type ObjectsClient,
  subscriptionsClient,
  type SubscriptionsClient,
} from '#services/objects/client'
import { queriesClient } from '#services/queries/client'
import type { QueriesApi } from '#services/queries/contract'
import { resourcesClient } from '#services/resources/client'
import type { ResourcesApi } from '#services/resources/contract'
import { retentionClient } from '#services/retention/client'
import type { RetentionApi } from '#services/retention/contract'
import { rulesClient, type RulesClient } from '#services/rules/client'
import type { RulesApi } from '#services/rules/contract'
import { vaultClient } from '#services/vault/client'
import type { VaultApi } from '#services/vault/contract'
import { webscriptsClient } from '#services/webscripts/client'
import type { WebscriptsApi } from '#services/webscripts/contract'
import { Http } from '#services/shared/client'

/** An API key with its secret, or a bearer token. */
export type ClientCredentials = { readonly key: string; readonly secret: string } | { readonly token: string }

export interface ClientOptions {
  /** of the host, such as `http://127.0.0.1:8080`; with the prefix, when it is mounted below one */
  readonly url: string
  /** none if neither the host nor a server in front of it requires credentials */
  readonly credentials?: ClientCredentials
  /** default: that of the platform */
  readonly fetch?: typeof globalThis.fetch
}

/** What the caller behind the credentials can do, by service. */
export interface Client {
  readonly rules: RulesClient
  readonly resources: ResourcesApi
  readonly alarms: AlarmsApi
  readonly broker: BrokerApi
  readonly calendars: CalendarsApi
  readonly converter: ConverterApi
  readonly connectors: ConnectorsApi
  readonly queries: QueriesApi
  readonly functions: FunctionsClient
  readonly webscripts: WebscriptsApi
  readonly models: ModelsApi
  readonly objects: ObjectsClient
  readonly subscriptions: SubscriptionsClient
  readonly maintenance: MaintenanceApi
  readonly notification: NotificationApi
  readonly vault: VaultApi
  readonly audit: AuditApi
  readonly retention: RetentionApi
}

/**
 * A client of one host for one caller; it holds no connection open by itself. What a service refuses is thrown as the
 * AppError that it was there, as far as the response distinguishes errors; a host that cannot be reached is what fetch throws.
 * Answers have the types of the contracts, and are not checked again. Throws `VALIDATION` for a bad URL or bad credentials.
 */
export function createClient({ url, credentials, fetch }: ClientOptions): Client {
  const http = new Http({
    url: hostUrl(url),
    ...(credentials && { headers: { authorization: authorization(credentials) } }),
    ...(fetch && { fetch }),
  })
  return {
    rules: rulesClient(http),
    resources: resourcesClient(http),
    alarms: alarmsClient(http),
    broker: brokerClient(http),
    calendars: calendarsClient(http),
    converter: converterClient(http),
    connectors: connectorsClient(http),
    queries: queriesClient(http),
    functions: functionsClient(http),
    webscripts: webscriptsClient(http),
    models: modelsClient(http),
    objects: objectsClient(http, fetch),
    subscriptions: subscriptionsClient(http),
    maintenance: maintenanceClient(http),
    notification: notificationClient(http),
    vault: vaultClient(http),
    audit: auditClient(http),
    retention: retentionClient(http),
  }
}

/** Without slashes at the end: paths begin with one. */
function hostUrl(text: string): string {
  const { protocol = '', search = '', hash = '', username = '' } = parsed(text) ?? {}
  if (/^https?:$/.test(protocol) && search === '' && hash === '' && username === '') return text.replace(/\/{1,9}$/, '')
  throw new AppError(
    'VALIDATION',
    `"${text.slice(0, 200)}" is not the URL of a host; write, for example, http://127.0.0.1:8080`,
  )
}

function parsed(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function authorization(credentials: ClientCredentials): string {
  if ('token' in credentials) return `Bearer ${credentials.token}`
  const { key, secret } = credentials
  if (key.includes(':'))
    throw new AppError('VALIDATION', 'the key has a colon, which ends it; keys of a host have none')
  // base64 of the bytes of UTF-8: btoa takes a character a byte
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${key}:${secret}`)))}`
}

export { AppError, type ErrorCode, type Issue } from '#kernel'
export type { AlarmsApi, BrokerApi, ConverterApi, QueriesApi, ResourcesApi, RulesApi }
