/** Creates the notification service of a host: mail, webhooks behind the fence of callURL, and brokers of MQTT. */
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import { CONNECTORS } from '#services/connectors'
import type { Connectors } from '#services/connectors/contract'
import { LinkSigner, linkPages, mailSender, notificationRoutes, Notifications } from '#services/notification'
import type { ChannelPorts } from '#services/notification/contract'
import { errorBodyOfLines } from '#services/shared'
import type { Config } from '../config.ts'
import { sealKey } from '../seal-key.ts'
import { nodeTransport } from '../transport/node-transport.ts'
import { addressCheck } from './address-check.ts'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

const TIMEOUT_MS = 15_000
const MAX_ANSWER = 65_536

export const makeNotification: MakeService = ({ config, figures, logger, now, tenants }) => {
  const links = new LinkSigner(sealKey(config))
  const ports = portsOf(config, CONNECTORS)
  figures.queue('notifications', ({ notification }) => notification?.gauges().waiting)
  figures.total('notifications-delivered', ({ notification }) => notification?.gauges().delivered)
  figures.total('notifications-failed', ({ notification }) => notification?.gauges().failed)
  return {
    name: 'notification',
    description: 'Contacts, policies and notifications: alarms that reach people',
    example: '/alarm/on-call',
    errorBody: errorBodyOfLines,
    routes: async (app) => {
      await notificationRoutes(app, { service: ofCaller(tenants, ({ notification }) => notification) })
      await linkPages(app, (token) => {
        const grant = links.read(token)
        return grant && tenants.find(grant.tenant)?.notification
      })
    },
    open: ({ tenant, store, services }) => {
      const notification = new Notifications({
        tenant,
        store,
        alarms: () => services.alarms,
        calendars: () => services.calendars,
        vault: () => services.vault,
        ports,
        links,
        addressOf: (path) => (config.url === undefined ? undefined : `${config.url}${path}`),
        now,
        newId: machineTimers.newId,
        later: machineTimers.later,
        logger,
      })
      return { provides: { notification }, life: notification }
    },
  }
}

function portsOf({ smtp, allowUrl }: Pick<Config, 'smtp' | 'allowUrl'>, connectors: Connectors): ChannelPorts {
  const transport = nodeTransport({ allow: allowUrl })
  const checkAddress = addressCheck(allowUrl)
  return {
    ...(smtp && { mail: mailSender(smtp) }),
    post: async ({ url, headers, body }, signal) => {
      const { hostname } = new URL(url)
      const [address] = await transport.resolve(hostname.replaceAll(/^\[|\]$/g, ''))
      if (address === undefined) throw new AppError('FORWARDING', `the host name ${hostname} cannot be resolved`)
      const request = { url, address, method: 'POST', headers, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER }
      return transport.send({ ...request, signal })
    },
    publish: async ({ id, url, user, password, topic, value }, signal) => {
      await checkAddress(new URL(url).host)
      const connector = await connectors.mqtt()
      const login = { ...(user !== undefined && { user }), ...(password !== undefined && { password }) }
      const connection = { url, ...(Object.keys(login).length > 0 && { login }) }
      const sink = await connector.openSink({
        document: { type: 'mqtt', connection: { url }, topic, select: { items: 'alarms' } },
        connection,
        clientId: `reflexarc-${id}`,
        signal,
        report: () => undefined,
      })
      try {
        await sink.send([{ id, topic, resource: '', time: 0, value: value as never }])
      } finally {
        await sink.close()
      }
    },
  }
}
