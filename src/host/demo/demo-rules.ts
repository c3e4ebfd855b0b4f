/** Templates of the demo plant, and the tasks that run them. */
import type { TemplateSpecification } from '#services/rules/contract'

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
      name: 'createAlarm',
      properties: {
        type: 'OVERHEATED',
        severity: 'CRITICAL',
        text: '{{RESOURCE}} is at {{GLOBAL.temperature}} °C and its pump stands still',
      },
    },
    { label: 'all_clear', name: 'clearAlarm', properties: { type: 'OVERHEATED' } },
  ],
  triggers: [
    { sourceLabel: 'hot_and_still', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 60 },
    { sourceLabel: 'hot_and_still', destinationLabel: 'all_clear', ends: ['TRUE'] },
  ],
  taskDefaults: { type: 'reactive' },
} satisfies TemplateSpecification

/** A template with one alarm while a condition holds for a duration. */
function whileHolding(
  name: string,
  description: string,
  condition: { readonly condition: string; readonly duration: string },
  alarm: { readonly type: string; readonly severity: string; readonly text: string },
): TemplateSpecification {
  return {
    name,
    description,
    sensors: [{ label: 'lasting', name: 'holdsFor', resource: '$', properties: condition }],
    actuators: [
      { label: 'alarm', name: 'createAlarm', properties: alarm },
      { label: 'all_clear', name: 'clearAlarm', properties: { type: alarm.type } },
    ],
    triggers: [
      { sourceLabel: 'lasting', destinationLabel: 'alarm', begins: ['Holds'] },
      { sourceLabel: 'lasting', destinationLabel: 'all_clear', ends: ['Holds'] },
    ],
    taskDefaults: { type: 'reactive' },
  }
}

export const TEMPLATES: readonly TemplateSpecification[] = [
  DEMO_TEMPLATE,
  whileHolding(
    'demo-low-pressure',
    'An alarm when the pressure of a boiler is below 1.2 bar for half a minute.',
    { condition: 'pressure < 1.2', duration: '30s' },
    { type: 'LOW_PRESSURE', severity: 'MAJOR', text: '{{RESOURCE}} is below 1.2 bar' },
  ),
  whileHolding(
    'demo-warm-room',
    'An alarm when a cold room is above 8 °C for a minute.',
    { condition: 'temperature > 8', duration: '1m' },
    { type: 'TOO_WARM', severity: 'MAJOR', text: '{{RESOURCE}} is above 8 °C' },
  ),
  whileHolding(
    'demo-open-door',
    'A warning when the door of a cold room is open for two minutes.',
    { condition: 'door == true', duration: '2m' },
    { type: 'DOOR_OPEN', severity: 'WARNING', text: 'the door of {{RESOURCE}} is open' },
  ),
]
