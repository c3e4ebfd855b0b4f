/** Fills an empty store with demo data: a template, a task, and sample requests. */
import type { RulesApi, TemplateSpecification } from '#services/rules/contract'
import type { Demo, HostedService } from './hosted-service.ts'

const RESOURCE = 'demo-boiler'

export const DEMO_TEMPLATE = {
  name: 'demo-overheating',
  description: 'An alarm when a boiler is above 90 °C and its pump stands still.',
  sensors: [
    {
      label: 'temperature',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'temperature', threshold: 90 },
    },
    { label: 'pump_runs', name: 'condition', resource: '$', properties: { condition: 'pump == true' } },
  ],
  relations: [
    {
      label: 'hot_and_still',
      type: 'AND',
      parentLabels: ['temperature', 'pump_runs'],
      combinations: [['Above', 'False']],
    },
  ],
  actuators: [
    {
      label: 'alarm',
      name: 'log',
      properties: { level: 'WARN', message: '{{RESOURCE}} is at {{GLOBAL.temperature}} °C and its pump stands still' },
    },
  ],
  triggers: [
    { sourceLabel: 'hot_and_still', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 60 },
  ],
  taskDefaults: { type: 'reactive' },
} satisfies TemplateSpecification

/** Stores the demo template and starts a task from it. Requires an empty store. */
export async function demoRules({ templates, tasks }: RulesApi): Promise<Demo> {
  await templates.create(DEMO_TEMPLATE)
  const { ID } = await tasks.create({ name: 'Demo boiler', template: DEMO_TEMPLATE.name, resource: RESOURCE })
  const values = { temperature: 93, pump: false }
  const data = Object.entries(values).map(([parameterName, value]) => ({ parameterName, value }))
  return {
    about: 'The demo task watches a boiler: send it sensor readings, then ask why it raised the alarm.',
    requests: [
      { path: '/api/data', body: { resource: RESOURCE, data } },
      { path: `/api/tasks/${ID}/explain?node=alarm` },
    ],
  }
}

export async function makeDemos(services: readonly HostedService[], tenant: string): Promise<readonly Demo[]> {
  const demos: Demo[] = []
  for (const service of services) if (service.demo !== undefined) demos.push(await service.demo(tenant))
  return demos
}
