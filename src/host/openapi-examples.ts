/**
 * Provides example bodies for operations: a boiler with its type, rule and alarm. test/host/openapi-examples.test.ts
 * sends them in this order.
 */
import { DEMO_TEMPLATE } from './demo/demo-rules.ts'

const { sensors, relations, actuators, triggers } = DEMO_TEMPLATE
const GRAPH = { sensors, relations, actuators, triggers }
const MESSAGE = { temperature: 93, pump: false }
const TASK = { name: 'Boiler 1', template: DEMO_TEMPLATE.name, resource: 'boiler-1' }
const UPDATES = [{ name: 'log', fromVersion: 'any', toVersion: '1.0.0' }]
const RUN = { data: [[{ resource: 'boiler-1', ...MESSAGE }]], conf: { resource: 'boiler-1' } }
const CALL = { properties: { condition: 'pump == true' }, streamData: { pump: true } }
const LOG_CALL = { properties: { level: 'WARN', message: 'the boiler is hot' } }
const CONSTRAINT = {
  name: 'Boilers have a location',
  attributes: [{ name: 'room', required: false, type: { type: 'string', minLength: 1 } }],
}
const CONVERTER = {
  type: 'velocity',
  template: '{"metrics": [{"resource": "boiler-1", "temperature": $payload.temp}]}',
  mqtt: { topic: 'gw/+/up' },
}
const PAYLOAD = { temp: 93 }

const REMOTE = { url: 'https://models.example.com', protocol: 'v2', model: 'wear' }

const QUERY = {
  resource: 'boiler-1',
  metric: 'temperature',
  aggregation: 'mean',
  freq: 'PT1H',
  window: 'P1D',
  interpolation: { method: 'linear' },
}

const SUBSCRIPTION = {
  channel: {
    type: 'webscript',
    name: 'greet',
    method: 'POST',
    payload: { signed_links: ['GET'], reference: { site: 'K1' } },
    authentication: { method: 'WEBSCRIPT', secret: 'the secret of the webscript' },
  },
  filters: [{ prefix: 'inspections/', suffix: '.json', events: ['put'] }],
}

const SOURCE = {
  type: 'kafka',
  connection: { brokers: ['kafka.example.com:9092'], tls: true },
  topics: ['plant'],
  map: { resource: 'key', timestamp: '/at', unit: 's' },
  start: 'earliest',
}
const SINK = {
  type: 'kafka',
  connection: { brokers: ['kafka.example.com:9092'], tls: true },
  topic: 'alarms',
  select: { items: 'alarms', prefix: 'boiler-' },
}

export const EXAMPLES: Readonly<Record<string, unknown>> = {
  putSource: SOURCE,
  putSink: SINK,
  putCalendar: {
    zone: 'Europe/Brussels',
    hours: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '17:00' }],
    holidays: [{ name: 'Christmas', rrule: 'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25' }],
    shifts: [{ name: 'day', from: '08:00', to: '20:00', onCall: ['anna'] }],
  },
  putNotificationAlarmContact: { channels: [{ type: 'email', to: ['anna@example.com'] }] },
  putNotificationAlarmPolicy: {
    contacts: ['anna'],
    select: { severities: ['CRITICAL', 'MAJOR'] },
    escalate: [{ after: 'PT15M', contacts: ['shift-lead'] }],
  },
  putMaintenanceAlarmWindow: {
    effect: 'suppress',
    reason: 'overhaul of the burner',
    select: { resources: ['boiler-9'] },
    until: '2090-01-01T00:00:00Z',
  },
  putRetentionV1Rules: {
    rules: [
      { data: 'samples', keep: 'P730D' },
      { data: 'samples', metric: 'vibration', keep: 'P30D' },
    ],
  },
  putVaultV1Secret: { value: 'a token of another service' },
  postResourceconstraints: CONSTRAINT,
  putResourceconstraint: CONSTRAINT,
  postResourcetypes: {
    id: 'boiler',
    name: 'Boiler',
    metrics: [{ name: 'temperature', valueType: 'double', unit: '°C' }],
  },
  putResourcetype: { name: 'Boiler' },
  patchResourcetype: { provider: 'Acme' },
  postResources: {
    id: 'boiler-1',
    resourceTypeId: 'boiler',
    name: 'Boiler 1',
    tags: ['cellar'],
    location: { lat: 51, lon: 3.7 },
  },
  putResource: { resourceTypeId: 'boiler', name: 'Boiler 1' },
  patchResource: { tags: ['cellar'], room: 'K1' },
  postTemplates: DEMO_TEMPLATE,
  putTemplate: DEMO_TEMPLATE,
  patchTemplates: { operation: 'updatePlugins', updates: UPDATES, reloadTasks: false },
  postTasks: TASK,
  putTask: TASK,
  patchTasks: { operation: 'command', command: 'restart' },
  postTemplateRollouts: {
    version: 1,
    mode: 'canary',
    percent: 10,
    stop: { divergence: 20, errors: 0 },
    note: 'earlier',
  },
  postBatch: { entity: 'task', action: 'restart', query: { template: DEMO_TEMPLATE.name } },
  postBrokerResourceEvents: MESSAGE,
  postBrokerResource: MESSAGE,
  postBrokerMessages: [{ resource: 'boiler-1', ...MESSAGE }],
  postBrokerResourceCommands: { name: 'switchOff' },
  postBrokerMessagesQuery: { resources: ['boiler-1'], limit: 1 },
  postBrokerSeriesQuery: {
    metric: 'temperature',
    resources: ['boiler-1'],
    aggregates: ['mean'],
    grouping: '1h',
    window: '1d',
  },
  postData: { resource: 'boiler-1', data: [{ parameterName: 'temperature', value: 93 }] },
  patchTaskNode: { state: 'False' },
  postTaskNode: { state: 'False' },
  postTasklogs: { taskId: 'the id of a task', logLevel: 'INFO', limit: 10 },
  postRulesCheck: { rule: GRAPH },
  postVariableDeclarations: GRAPH,
  postRehearsals: { template: DEMO_TEMPLATE.name, resources: ['boiler-1'], source: { from: '-1d' } },
  postTaskReplay: { at: 12, message: { resource: 'boiler-1', timestamp: 0, ...MESSAGE } },
  postTasksSimulate: {
    rule: GRAPH,
    resource: 'boiler-1',
    messages: [{ resource: 'boiler-1', timestamp: 0, ...MESSAGE }],
  },
  postTemplatesRun: { graph: GRAPH, ...RUN },
  postTemplateRun: RUN,
  postTemplatesDebug: { graph: GRAPH, ...RUN },
  postTemplateDebug: RUN,
  postSensor: CALL,
  postSensorVersion: CALL,
  postAction: LOG_CALL,
  postActionVersion: LOG_CALL,
  postQueryConfigQuery: { name: 'boiler-means', query: QUERY, meta: { tags: ['boiler'] } },
  postQueryConfigQueryByName: { query: QUERY },
  putQueryConfigQueryByName: { query: QUERY },
  postQueryDataQuery: QUERY,
  postAlarms: { type: 'OVERHEATED', text: 'The boiler is hot', severity: 'MAJOR', source: { id: 'boiler-1' } },
  putAlarm: { status: 'ACKNOWLEDGED', assignee: 'anna' },
  postAlarmAcknowledge: { comment: 'A fitter is on the way' },
  postAlarmShelve: { until: '2100-01-01T00:00:00Z', reason: 'The sensor is exchanged' },
  postAlarmUnshelve: {},
  postAlarmComments: { text: 'It was the seal' },
  putAlarmType: { latching: true, longestShelving: 'PT8H', texts: { action: 'Close the valve' } },
  postAlarmBatch: {
    entity: 'alarm',
    action: 'update',
    query: { type: 'OVERHEATED' },
    actionParameters: { severity: 'MINOR' },
  },
  putConverterByName: CONVERTER,
  postConverterTest: { config: CONVERTER, payload: PAYLOAD },
  postConverterConvert: PAYLOAD,
  postConverterIngest: PAYLOAD,
  postConverterRejected: {},
  postV1Webscripts: {
    name: 'greet',
    script: 'exports.handleRequest = (req, res) => res.json({ hello: req.query.name })',
  },
  putV1Webscript: { script: 'exports.handleRequest = (req, res) => res.json({ hello: "you" })', private: false },
  postModels: { name: 'boiler-wear', remote: { ...REMOTE, headers: { Authorization: 'Bearer secret' } } },
  patchModel: { description: 'Heat of the boiler' },
  postModelPredict: { instances: [[93, 1, 0, 0]] },
  postModelClassify: { examples: [{ temperature: 93, pressure: 1 }] },
  postModelRegress: { examples: [{ temperature: 93, pressure: 1 }] },
  postModel: { remote: REMOTE },
  putModel: { remote: REMOTE },
  postSubscription: SUBSCRIPTION,
  putSubscription: { title: 'Inspections', ...SUBSCRIPTION },
  postAuthV1Keys: { name: 'boilers', scopes: ['device'], resources: { prefix: 'boiler-' } },
  postAuthV1KeyRotate: { graceSeconds: 3600 },
  postAuthV1Devices: { resource: 'boiler-7', name: 'Boiler 7' },
  postAuthV1Session: { key: 'k', secret: 's' },
  postExport: { resource: 'boiler-1', metrics: ['temperature'], from: '2026-01-01', object: 'boiler-1.csv' },
  postAssistantMcp: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  postSourceRejected: {},
  ...ofFunctions('Plug'),
  patchFunctionRegistryV2PlugVersionInterface: {
    description: 'Whether a number is above a limit',
    states: [{ name: 'Warm', description: 'it is' }],
  },
  ...ofFunctions('Webscript'),
  ...ofFunctions('Model'),
}

function ofFunctions(type: 'Plug' | 'Webscript' | 'Model'): Readonly<Record<string, unknown>> {
  const one = `FunctionRegistryV2${type}`
  const tags = { tags: ['cellar', { name: 'heat', color: '#b4541a' }] }
  return {
    [`patch${one}VersionManifest`]: { metadata: { category: 'Heating' } },
    [`patch${one}VersionMetadata`]: { description: 'Of the boiler', author: 'anna' },
    [`put${one}Tags`]: tags,
    [`patch${one}Tags`]: { tags: ['boiler'] },
    [`put${one}VersionTags`]: tags,
    [`patch${one}VersionTags`]: { tags: ['boiler'] },
  }
}
