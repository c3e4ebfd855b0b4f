/** Tasks of host benchmarks: templates of five nodes, created over several connections. */
import { drive } from '../calls.ts'
import type { Connection } from './connection.ts'

/** few, so that a filter by template keeps thousands of a hundred thousand tasks */
export const TEMPLATES = 7
export const SITES = 40

const TEMPLATE = {
  sensors: [
    {
      label: 'temperature',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'temperature', threshold: 90 },
    },
    {
      label: 'humidity',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'humidity', threshold: 60 },
    },
  ],
  relations: [
    { label: 'both', type: 'AND', parentLabels: ['temperature', 'humidity'], combinations: [['Above', 'Above']] },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'too hot' } }],
  triggers: [{ sourceLabel: 'both', destinationLabel: 'note', statesTrigger: ['TRUE'], invocationPolicy: 0 }],
}

export async function createTemplates(connection: Connection): Promise<void> {
  for (let n = 0; n < TEMPLATES; n += 1) {
    await connection.expect(201, 'POST', '/api/templates', JSON.stringify({ name: templateOf(n), ...TEMPLATE }))
  }
}

export function templateOf(n: number): string {
  return `overheating-${n % TEMPLATES}`
}

/** Periodic, once an hour: running, but idle. */
export function taskOf(n: number): object {
  return {
    name: `boiler ${n} is too hot`,
    template: templateOf(n),
    resource: `boiler-${n}`,
    type: 'periodic',
    frequency: 3_600_000,
    start: true,
    variables: { recipients: ['control-room', 'shift-leader'] },
    tags: { site: `site-${n % SITES}`, owner: 'maintenance' },
  }
}

export async function createTask(connection: Connection, n: number): Promise<string> {
  const { ID } = JSON.parse(await connection.expect(201, 'POST', '/api/tasks', JSON.stringify(taskOf(n)))) as {
    ID: string
  }
  return ID
}

/** Returns their ids. */
export async function createTasks(connections: readonly Connection[], count: number): Promise<readonly string[]> {
  const ids: string[] = []
  const create = async (connection: Connection, n: number) => void ids.push(await createTask(connection, n))
  await drive(connections, (n) => n < count, create)
  return ids
}
