/** A task per resource, with one sensor for its messages and one actuator. */
import type { FastifyInstance } from 'fastify'
import { posting } from './open-host.ts'

export interface ListeningTasks {
  readonly resources: number
  readonly threshold: number
  readonly actuator: object
}

export const LOG = { name: 'log', properties: { message: 'too hot' } }

export async function listen(app: FastifyInstance, { resources, threshold, actuator }: ListeningTasks): Promise<void> {
  const sensor = { label: 'hot', name: 'streamingDataSensor', resource: '$' }
  for (let device = 0; device < resources; device++) {
    const payload = {
      sensors: [{ ...sensor, properties: { parameter: 'temperature', threshold } }],
      actuators: [{ label: 'note', ...actuator }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', statesTrigger: ['Above'] }],
      task: { name: `hot ${device}`, type: 'reactive', resource: `boiler-${device}` },
    }
    await posting(app)('/api/tasks', payload)
  }
}
