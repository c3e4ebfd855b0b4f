/** A device that records the names of the commands that it receives over MQTT, in the order of their arrival. */
import { connect, type IClientOptions } from 'mqtt'

export interface Pair {
  readonly key: string
  readonly secret: string
}

export async function device(url: string, { key, secret }: Pair, more: IClientOptions = {}) {
  const names: unknown[] = []
  const options = { username: key, password: secret, clientId: 'd-1', clean: false, protocolVersion: 4 as const }
  const client = connect(url, { ...options, reconnectPeriod: 0, ...more })
  // before the connection is open, so that nothing is missed
  client.on('message', (_topic, payload) => names.push((JSON.parse(String(payload)) as { name: unknown }).name))
  await new Promise<void>((resolve, reject) => client.once('connect', () => resolve()).once('error', reject))
  return { client, names }
}
