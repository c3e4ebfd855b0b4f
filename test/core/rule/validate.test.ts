import fc from 'fast-check'
import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { describeIssue } from '../../../src/kernel/errors.ts'
import { RuleSchema, TaskFromTemplateSchema, TemplateSchema } from '../../../src/core/rule/rule-schema.ts'
import { validateRule, validateTaskRequest, validateTemplate } from '../../../src/core/rule/validate.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { goodRule, plugs } from './sample.ts'
import { growth } from '../../support/cpu-time.ts'
import { runs } from '../../support/arbitraries/runs.ts'
type Path = readonly (string | number)[]

/** A valid rule with one value set (undefined: removed) at a path. */
function changed(...changes: readonly (readonly [Path, unknown])[]): unknown {
  const rule: unknown = goodRule()
  for (const [path, value] of changes) {
    let holder = rule as Record<string | number, unknown>
    for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>
    const last = path.at(-1) ?? ''
    if (last === '-') (holder as unknown as unknown[]).push(value)
    else if (value === undefined) delete holder[last]
    else holder[last] = value
  }
  return rule
}

/** The same, each change as `/path = JSON`: without a value the path is removed; `-` appends to a list. */
function changedBy(changes: string): unknown {
  const each = changes.split(/; (?=\/)/).map((change): [Path, unknown] => {
    const [path = '', json = ''] = change.split(/ = ?(.*)/s)
    const value: unknown = json === 'NaN' ? Number.NaN : json === '' ? undefined : JSON.parse(json)
    return [path.slice(1).split('/'), value]
  })
  return changed(...each)
}

const lines = (input: unknown) =>
  validateRule(input, plugs).issues.map((i) => `${i.severity} ${i.type} ${describeIssue(i)}`)

describe('a rule without problems', () => {
  it('is returned as is, without issues', () => {
    expect(validateRule(goodRule(), plugs)).toEqual({ rule: goodRule(), issues: [] })
  })

  it('is returned as a copy', () => {
    const given = goodRule()
    const { rule } = validateRule(given, plugs)
    given.sensors.pop()
    expect(rule?.sensors).toHaveLength(3)
  })
})

describe('variables outside the graph of a rule', () => {
  const withVariables = (variables: unknown, task: object = { name: 't' }) => ({ ...goodRule(), variables, task })

  it('are defaults for the values in its settings', () => {
    const { rule, issues } = validateRule(withVariables({ m: 'M7', n: 1 }, { name: 't', variables: { n: 2 } }), plugs)
    expect([rule?.task?.variables, issues]).toEqual([{ m: 'M7', n: 2 }, []])
    expect(rule).not.toHaveProperty('variables')
  })

  it('may be declarations: their defaults become values, and a value of another type is rejected', () => {
    const declared = [{ name: 'm', type: 'integer', defaultValue: 5 }]
    const { rule, issues } = validateRule(withVariables(declared), plugs)
    expect([{ ...rule?.task?.variables }, issues]).toEqual([{ m: 5 }, []])
    expect(lines(withVariables(declared, { name: 't', variables: { m: 'x' } }))).toEqual([
      expect.stringContaining('ERROR VARIABLE /task/variables/m: the variable "m" is "x", not'),
    ])
    expect(lines(withVariables([{ name: 'm', type: 'string', overrideByData: true }]))).toEqual([
      expect.stringContaining('WARNING VARIABLE /variables/0: live data replaces only variables of templates'),
    ])
  })

  it.each([5, true, null, 'M7'])('as %j are rejected', (variables) => {
    const text = 'ERROR TYPE /variables: "variables" of the rule must be an object or an array of objects, not'
    expect(lines(withVariables(variables))).toEqual([expect.stringContaining(text)])
  })

  it('as a list of null are rejected', () => {
    expect(lines(withVariables([null]))[0]).toMatch(/^ERROR TYPE \/variables\/0: /)
  })
})

describe('a field that only templates have', () => {
  it('causes a warning and is omitted', () => {
    const { rule, issues } = validateRule({ ...goodRule(), name: {}, taskDefaults: 5 }, plugs)
    expect(rule).toEqual(goodRule())
    expect(issues.map(({ type, path }) => [type, path])).toEqual([
      ['FIELD', '/name'],
      ['FIELD', '/taskDefaults'],
    ])
  })
})

describe('each problem has a location and a correction', () => {
  it.each(
    Object.entries({
      '/sensors = []; /relations = []; /triggers = []; /actuators = []':
        'ERROR TYPE /sensors: "sensors" of the rule has 0 items',
      '/sensors/1/label =': 'ERROR LABEL /sensors/1/label: sensor 1 has no "label"',
      '/sensors/1/label = ""': 'ERROR LABEL /sensors/1/label: "label" of sensor "" is empty',
      '/actuators/- = {"label":"heat","name":"log","properties":{"message":"x"}}':
        'ERROR LABEL /actuators/1/label: the actuator label "heat" is taken by /sensors/0',
      '/sensors/1/label = "GLOBAL"': 'ERROR LABEL /sensors/1/label: the label "GLOBAL" is reserved for the message',
      '/sensors/0/name = "steam"':
        'ERROR PLUG /sensors/0/name: sensor "heat": unknown sensor plug "steam:1.0.0"; did you mean "stream"?',
      '/sensors/1/version = "1.11.0"':
        'WARNING VERSION /sensors/1/version: sensor "flip": unknown version coin 1.11.0; 1.10.0 runs instead, the newest of that major version; write "version": "1.10.0"',
      '/sensors/1/version = "2.0.0"':
        'ERROR PLUG /sensors/1/version: sensor "flip": unknown sensor plug "coin:2.0.0"; the versions of coin are 1.9.0, 1.10.0',
      '/sensors/1/version = "1.10"':
        'ERROR PLUG /sensors/1/version: sensor "flip": unknown sensor plug "coin:1.10"; the versions of coin are 1.9.0, 1.10.0',
      '/sensors/2/version = "0.9.1"':
        'INFO VERSION /sensors/2/version: sensor "wait": delay 1.0.0 runs instead of 0.9.1',
      '/actuators/0/name = "coin"':
        'ERROR PLUG /actuators/0/name: actuator "note": unknown actuator plug "coin"; "coin" is a sensor: move the node to "sensors"',
      '/sensors/1/name = "log"': '"log" is an actuator: move the node to "actuators"',
      '/sensors/0/resorce = "$"':
        'WARNING FIELD /sensors/0/resorce: sensor "heat" has a field "resorce" that is not used; did you mean "resource"?',
      '/sensors/0/evictionTime = "5000"':
        'ERROR TYPE /sensors/0/evictionTime: "evictionTime" of sensor "heat" must be a number from 0 (ms), not the text "5000"; write 5000',
      '/sensors/0/evictionTime = -1':
        'ERROR TYPE /sensors/0/evictionTime: "evictionTime" of sensor "heat" is -1, expected a number from 0 (ms)',
      '/sensors/0/pollingPeriod = NaN': 'ERROR TYPE /sensors/0/pollingPeriod: NaN is not a number in JSON',
      '/sensors/0/sequence = 1.5':
        'ERROR TYPE /sensors/0/sequence: "sequence" of sensor "heat" is 1.5, expected a whole number from 0',
      '/sensors/0/position = [1]': 'ERROR TYPE /sensors/0/position',
      '/relations/0/type = "XOR"':
        'ERROR TYPE /relations/0/type: "type" of relation "both" must be one of AND, OR, GENERAL, NAND, COUNT, SHARE, not the text "XOR"; did you mean "OR"?',
      '/relations/0/parentLabels/1 = "flop"':
        'ERROR LABEL /relations/0/parentLabels/1: relation "both": unknown node "flop"; did you mean "flip"?',
      '/relations/0/parentLabels/1 = "note"':
        'ERROR GATE /relations/0/parentLabels/1: relation "both" has the actuator "note" as parent',
      '/relations/0/parentLabels = ["heat","heat"]; /relations/0/combinations = [["Above","Above"]]':
        'WARNING GATE /relations/0/parentLabels/1: relation "both" names the parent "heat" twice',
      '/relations/0/combinations = [["Above"]]':
        'ERROR GATE /relations/0/combinations/0: relation "both" has 2 parents, but this combination has 1 states: ["Above"]; write one state for each parent, such as [["Below","Heads"]]',
      '/relations/0/combinations = [["Abvoe","Heads"]]':
        'ERROR STATE /relations/0/combinations/0/0: relation "both": "heat" has no state "Abvoe"; did you mean "Above"?',
      '/relations/0/combinations = [["Above","Heads"],["Above","Tails"]]':
        'ERROR GATE /relations/0/combinations: AND relation "both" has 2 combinations, expected one; keep one row, or make it GENERAL',
      '/relations/0/combinations = []':
        'ERROR GATE /relations/0/combinations: "combinations" of relation "both" has 0 items, expected at least 1',
      '/relations/1/combinations/1 = ["TRUE","Triggered"]':
        'WARNING GATE /relations/1/combinations/1: relation "late" lists ["TRUE","Triggered"] twice, first as row 0',
      '/triggers/0/sourceLabel = "heap"':
        'ERROR LABEL /triggers/0/sourceLabel: trigger "heap" -> "wait": unknown node "heap"; did you mean "heat"?',
      '/triggers/0/destinationLabel = "wiat"':
        'ERROR LABEL /triggers/0/destinationLabel: trigger "heat" -> "wiat": unknown node "wiat"',
      '/triggers/0/sourceLabel = "note"; /triggers/0/stateChangeTrigger =':
        'ERROR TRIGGER /triggers/0/sourceLabel: trigger "note" -> "wait": the source "note" is an actuator',
      '/triggers/1/destinationLabel = "both"':
        'ERROR TRIGGER /triggers/1/destinationLabel: trigger "late" -> "both": the destination "both" is a relation',
      '/triggers/1/statesTrigger = ["YES"]':
        'ERROR STATE /triggers/1/statesTrigger/0: trigger "late" -> "note": "late" has no state "YES"; the states of "late" are "TRUE", "FALSE"',
      '/triggers/1/statesTrigger = ["*"]':
        'ERROR STATE /triggers/1/statesTrigger/0: trigger "late" -> "note": "*" is not a state',
      '/triggers/0/stateChangeTrigger/stateTo = "Up"':
        'ERROR STATE /triggers/0/stateChangeTrigger/stateTo: trigger "heat" -> "wait": "heat" has no state "Up"',
      '/triggers/0/stateChangeTrigger/stateFrom = ""':
        'ERROR STATE /triggers/0/stateChangeTrigger/stateFrom: trigger "heat" -> "wait": stateFrom is empty; write "*" for any state',
      '/triggers/0/stateChangeTrigger = {"stateFrom":"Above","stateTo":"Above"}':
        'WARNING TRIGGER /triggers/0/stateChangeTrigger: trigger "heat" -> "wait" fires each time "Above" is observed twice in a row',
      '/triggers/1/statesTrigger = []':
        'WARNING TRIGGER /triggers/1/statesTrigger: trigger "late" -> "note" has no state in statesTrigger',
      '/triggers/1/invocationPolicy = -5':
        'ERROR TYPE /triggers/1/invocationPolicy: "invocationPolicy" of trigger "late" -> "note" is -5',
      '/triggers/- = {"sourceLabel":"late","destinationLabel":"note","statesTrigger":["TRUE"]}':
        'WARNING TRIGGER /triggers/2: trigger "late" -> "note" is the same as trigger 1',
      '/triggers/1/begins = ["TRUE","YES"]':
        'ERROR STATE /triggers/1/begins/1: trigger "late" -> "note": "late" has no state "YES"; the states of "late" are "TRUE", "FALSE"',
      '/triggers/1/ends = ["*"]':
        'ERROR STATE /triggers/1/ends/0: trigger "late" -> "note": "*" is not a state; list the states that belong together',
      '/triggers/1 = {"sourceLabel":"late","destinationLabel":"note","begins":[],"invocationPolicy":60}':
        'WARNING TRIGGER /triggers/1/begins: trigger "late" -> "note" has no state in begins, so it fires after every execution of its source',
      '/triggers/1/begins = ["FALSE","TRUE"]':
        'WARNING TRIGGER /triggers/1/begins: trigger "late" -> "note": begins has all states of "late", so it fires once, at the first state, and never again',
      '/triggers/1/ends = ["FALSE","TRUE"]':
        'WARNING TRIGGER /triggers/1/ends: trigger "late" -> "note": ends has all states of "late", so it never fires',
      '/triggers/1/begins = "TRUE"': 'ERROR TYPE /triggers/1/begins: "begins" of',
      '/triggers/- = {"sourceLabel":"late","destinationLabel":"heat"}':
        'ERROR CYCLE /triggers/2: the nodes trigger each other endlessly: heat -> both -> late -> heat',
      '/triggers/- = {"sourceLabel":"flip","destinationLabel":"flip"}':
        'ERROR CYCLE /triggers/2: the nodes trigger each other endlessly: flip -> flip',
      '/relations/0/parentLabels/1 = "late"; /relations/0/combinations = [["Above","TRUE"]]':
        'the nodes trigger each other endlessly: both -> late -> both',
      '/sensors/2/pollingPeriod = 1000':
        'WARNING FIELD /sensors/2/pollingPeriod: sensor "wait": pollingPeriod has no effect, because triggers run it',
      '/sensors/0/keepRawData = true':
        'WARNING FIELD /sensors/0/keepRawData: sensor "heat": keepRawData has no effect without an evictionTime',
      '/sensors/0/keepRawData = "true"':
        'ERROR TYPE /sensors/0/keepRawData: "keepRawData" of sensor "heat" must be true or false',
      '/sensors/2/tickTrigger = true': 'WARNING FIELD /sensors/2/tickTrigger',
      '/sensors/1/pollingPeriod = 5; /sensors/1/schedule = "0 0 * * * ?"':
        'ERROR FIELD /sensors/1/schedule: sensor "flip" has both pollingPeriod and schedule',
      '/sensors/0/timeout = "5 parsecs"':
        'ERROR TYPE /sensors/0/timeout: "timeout" of sensor "heat" is "5 parsecs", expected a duration such as PT50S',
      '/sensors/0/timeout = "PT0S"':
        'ERROR TYPE /sensors/0/timeout: "timeout" of sensor "heat" is "PT0S", expected a duration such as PT50S',
      '/sensors/0/retryConfig = {"maxRetries":1,"minBackoff":"PT1M","maxBackoff":"PT1S"}':
        'ERROR TYPE /sensors/0/retryConfig: sensor "heat": minBackoff "PT1M" is longer than maxBackoff "PT1S"',
      '/sensors/0/retryConfig = {"maxRetries":1,"errorState":"Abov"}':
        'ERROR STATE /sensors/0/retryConfig/errorState: sensor "heat": errorState: "heat" has no state "Abov"; did you mean "Above"?',
      '/sensors/0/timeoutState = "Late"': 'ERROR STATE /sensors/0/timeoutState',
      '/sensors/0/loopDef = "{\\"a\\":1}"':
        'ERROR TYPE /sensors/0/loopDef: sensor "heat": loopDef "{\\"a\\":1}" is not a JSON array of objects',
      '/task = {"type":"reactive"}; /sensors/1/resource =': 'WARNING START /sensors/1: sensor "flip" never runs',
      '/sensors/1/resource =; /sensors/1/tickTrigger = false': 'WARNING START /sensors/1: sensor "flip" never runs',
      '/sensors/- = {"label":"e","name":"ear","pollingPeriod":60000}':
        'WARNING START /sensors/3: sensor "e" never runs; it runs on the channel bell of its resource: set a resource such as "$"',
      '/triggers/1 = {"sourceLabel":"flip","destinationLabel":"wait"}':
        'WARNING START /actuators/0: actuator "note" has no trigger',
      '/sensors/0/properties/dataName =':
        'ERROR PROPERTY /sensors/0/properties/dataName: sensor "heat": the property "dataName" is missing; write "dataName": "temperature"',
      '/sensors/0/properties/treshold = 1':
        'WARNING UNKNOWN_PROPERTY /sensors/0/properties/treshold: sensor "heat": stream has no property "treshold"; did you mean "threshold"?',
      '/sensors/0/properties/threshold = "high"':
        'ERROR PROPERTY /sensors/0/properties/threshold: sensor "heat": the property "threshold" is "high", not a number',
      '/sensors/0/properties/dataName = 5':
        'WARNING PROPERTY /sensors/0/properties/dataName: sensor "heat": the property "dataName" is 5, which becomes text; write "5"',
      '/sensors/0/properties/dataName = ["a"]':
        'ERROR PROPERTY /sensors/0/properties/dataName: sensor "heat": the property "dataName" is ["a"], not text',
      '/sensors/0/properties/mode = "lose"':
        'ERROR PROPERTY /sensors/0/properties/mode: sensor "heat": the property "mode" is "lose", not one of strict, loose; did you mean "loose"?',
      '/sensors/2/properties/duration = "soon"':
        'ERROR PROPERTY /sensors/2/properties/duration: sensor "wait": the property "duration" is "soon", not a duration',
      '/actuators/0/properties/key = "hunter2"':
        'ERROR PROPERTY /actuators/0/properties/key: actuator "note": the property "key" is (not shown), not a whole number',
      '/sensors/0/properties/threshold = "-300"':
        'ERROR PROPERTY /sensors/0/properties/threshold: sensor "heat": colder than can be; write at least -273',
      '/sensors/- = {"label":"t","name":"touchy","resource":"$"}':
        'ERROR PLUG /sensors/3/properties: sensor "t": the check of touchy 1.0.0 failed: out of order',
      '/actuators/0/properties/message = "${nodes.heart.rawData.value}"':
        'ERROR BINDING /actuators/0/properties/message: actuator "note": ${nodes.heart.rawData.value}: unknown node "heart"; did you mean "heat"?',
      '/sensors/- = {"label":"pump.1","name":"coin","resource":"$"}; /actuators/0/properties/message = "is {{pump.1.state}}"':
        'ERROR BINDING /actuators/0/properties/message: actuator "note": {{pump.1.state}}: unknown node "pump"; the label "pump.1" contains a dot; write [pump.1].state',
      '/sensors/- = {"label":"pump.a","name":"coin","resource":"$"}; /actuators/0/properties/message = "is ${nodes.pump.a.state}"':
        'ERROR BINDING /actuators/0/properties/message: actuator "note": "${nodes.pump.a.state}": a node has no "a"; quote a label that contains a dot: nodes["pump.a"].state',
      '/sensors/- = {"label":"constructor","name":"coin","resource":"$"}':
        'ERROR LABEL /sensors/3/label: the sensor label "constructor" is not allowed; choose another label',
      '/actuators/0/label = "constructor"':
        'ERROR LABEL /actuators/0/label: the actuator label "constructor" is not allowed',
      '/relations/0/label = "constructor"':
        'ERROR LABEL /relations/0/label: the relation label "constructor" is not allowed',
      '/sensors/- = {"label":"prototype","name":"coin","resource":"$"}':
        'ERROR LABEL /sensors/3/label: the sensor label "prototype" is not allowed; choose another label',
      '/actuators/0/label = "prototype"':
        'ERROR LABEL /actuators/0/label: the actuator label "prototype" is not allowed',
      '/relations/0/label = "prototype"':
        'ERROR LABEL /relations/0/label: the relation label "prototype" is not allowed',
      '/sensors/- = {"label":"__proto__","name":"coin","resource":"$"}':
        'ERROR LABEL /sensors/3/label: the sensor label "__proto__" is not allowed; choose another label',
      '/actuators/0/label = "__proto__"':
        'ERROR LABEL /actuators/0/label: the actuator label "__proto__" is not allowed',
      '/relations/0/label = "__proto__"':
        'ERROR LABEL /relations/0/label: the relation label "__proto__" is not allowed',
      '/actuators/0/properties/message = "${nodes.heat.rawData.valeu}"':
        'WARNING BINDING /actuators/0/properties/message: actuator "note": ${nodes.heat.rawData.valeu}: rawData of "heat" has no field "valeu"; did you mean "value"?',
      '/sensors/0/properties/options = {"a":["${nodes.note.state}"]}':
        'ERROR BINDING /sensors/0/properties/options/a/0: sensor "heat": ${nodes.note.state}: the actuator "note" has no state',
      '/actuators/0/properties/message = "${streem.x}"':
        'ERROR BINDING /actuators/0/properties/message: actuator "note": "${streem.x}"',
      '/sensors/0/resource = "${nodes.flip.state}"':
        'ERROR RESOURCE /sensors/0/resource: sensor "heat": ${nodes.flip.state} is not known when the task starts',
      '/task = {"type":"periodic"}': 'ERROR TASK /task/frequency: a periodic task needs a frequency',
      '/task = {"type":"scheduled","cron":"x","rrule":"y"}': 'ERROR TASK /task/rrule: the task has both cron and rrule',
      '/task = {"type":"scheduled"}': 'ERROR TASK /task/cron: a scheduled task needs cron or rrule',
      '/task = {"cron":"0 0 * * * ?"}':
        'ERROR TASK /task/type: the task has "cron" but no type; write "type": "scheduled"',
      '/task = {"type":"reactive","frequency":5}':
        'WARNING FIELD /task/frequency: frequency has no effect on a reactive task',
      '/task/frequency = 0':
        'ERROR TYPE /task/frequency: "frequency" of task settings "boiler" is 0, expected a number above 0 up to 31536000000 (ms)',
      '/task = {"type":"periodic","pollingInterval":315360000}':
        'ERROR TYPE /task/pollingInterval: "pollingInterval" of "task" of the rule is 315360000, expected a number above 0 up to 31536000 (s)',
      '/task/pollingInterval = 5':
        'WARNING TASK /task/pollingInterval: pollingInterval 5 (s) differs from frequency 60000 (ms), which wins',
      '/task/type = "periodical"': 'did you mean "periodic"?',
      '/task/misfire = "twice"': 'must be one of skip, once, all',
      '/task/timeZone = "Europe Brussels"':
        'ERROR SCHEDULE /task/timeZone: "Europe Brussels" is not a time zone; did you mean Europe/Brussels?',
      '/task/type = "scheduled"; /task/cron = "0 61 * * * ?"':
        'ERROR SCHEDULE /task/cron: minute: "61" is out of range; minute takes 0-59',
      '/task/type = "scheduled"; /task/cron = "0 9 13 * 5"':
        'WARNING SCHEDULE /task/cron: day-of-month "13" and day-of-week "5" are both set: it runs on days that match either; for days that match both, use an rrule such as FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR',
      '/task/type = "scheduled"; /task/rrule = "FREQ=DAYLY"':
        'ERROR SCHEDULE /task/rrule: FREQ: "DAYLY" is not a valid frequency',
      '/sensors/0/schedule = "every day"': 'ERROR SCHEDULE /sensors/0/schedule',
      '/task/maxLateness = "1 year"': 'ERROR TASK /task/maxLateness',
      '/task/late = "keep"':
        'ERROR TYPE /task/late: "late" of task settings "boiler" must be one of drop, take, not the text "keep"',
      '/task/late = 5':
        'ERROR TYPE /task/late: "late" of task settings "boiler" must be one of drop, take or an object, not the number 5',
      '/task/late = {"then":"take"}':
        'ERROR TYPE /task/late/reorder: "late" of task settings "boiler" has no "reorder"; write "reorder": a duration such as 30s or PT30S',
      '/task/late = {"reorder":"soon"}':
        'ERROR TASK /task/late/reorder: "reorder" of "late" of task settings "boiler" is "soon", expected a duration such as 30s or PT30S',
      '/task/late = {"reorder":"0s"}':
        'ERROR TASK /task/late/reorder: "reorder" of "late" of task settings "boiler" is "0s", expected a duration such as 30s or PT30S',
      '/task/late = {"reorder":"30s"}; /task/time = "arrival"':
        'ERROR TASK /task/late: reorder follows the timestamps of messages, which "time": "arrival" ignores; omit "time" or "late',
      '/task/late = "take"; /task/time = "arrival"':
        'WARNING FIELD /task/late: late has no effect with "time": "arrival"',
      '/task/time = "evnt"': 'must be one of event, arrival, not the text "evnt"; did you mean "event"?',
      '/task/downtime = "wait"': 'must be one of restart, continue, confirm',
      '/task/duplicates = "keep"': 'must be one of drop, take',
      '/task/maxMissed = 1001': 'expected a whole number from 0 up to 1000',
      '/task/maxMissed = 5': 'WARNING FIELD /task/maxMissed: maxMissed has no effect',
      '/triggers/0/stateChangeTrigger/stateFrom = "*"':
        'WARNING RESET /triggers/0/stateChangeTrigger/stateFrom: trigger "heat" -> "wait" fires whenever a run finds "Above", changed or not',
      '/task/frequency = 60':
        'WARNING FREQUENCY /task/frequency: frequency ticks every 60 ms; write at least 100 (ms); a minute is 60000',
      '/task/frequency =; /task/pollingInterval = 0.05':
        'WARNING FREQUENCY /task/pollingInterval: pollingInterval ticks every 50 ms; write at least 0.1 (s); a minute is 60',
      '/sensors/0/pollingPeriod = 99': 'WARNING FREQUENCY /sensors/0/pollingPeriod: pollingPeriod ticks every 99 ms',
      '/sensors/0/properties/dataName = "${nodes.note.rawData.sent}"':
        'WARNING LATENCY /sensors/0/properties/dataName: sensor "heat": ${nodes.note.rawData.sent}: the result of "note" arrives later, so the outcome depends on the duration of the call; read the input of the actuator, or make the call in a sensor',
      '/actuators/- = {"label":"tell","name":"log","properties":{"message":"sent: {{note.sent}}"}}; /triggers/- = {"sourceLabel":"flip","destinationLabel":"tell"}':
        'WARNING LATENCY /actuators/1/properties/message: actuator "tell": {{note.sent}}: the result of "note" arrives later',
      '/sensors/0/properties/when = {"==":[{"var":"nodes.note.rawData.sent"},true]}':
        'WARNING LATENCY /sensors/0/properties/when: sensor "heat": nodes.note.rawData.sent: the result of "note" arrives later',
      '/task = {"type":"reactive"}; /sensors/- = {"label":"quiet","name":"lull","resource":"$"}':
        'WARNING SILENCE /sensors/3: sensor "quiet" does not detect a device that never sends, because only messages run it; add a clock to the task, such as "type": "periodic" with "frequency": 60000 (ms), or a pollingPeriod to the sensor',
      '/sensors/- = {"label":"quiet","name":"lull","resource":"$","tickTrigger":false}':
        'WARNING SILENCE /sensors/3: sensor "quiet" does not detect',
      '/task = {"type":"reactive"}; /sensors/- = {"label":"quiet","name":"lull"}; /triggers/- = {"sourceLabel":"heat","destinationLabel":"quiet"}':
        'only messages run it; add a clock to the task, such as "type": "periodic" with "frequency": 60000 (ms), or a pollingPeriod to the sensor that fires it',
      '/task/nodes = [{"name":"","properties":{}}]':
        'ERROR OVERRIDE /task/nodes/0/name: "name" of node override "" is empty; write non-empty text (label of a node)',
      '/triggers/0/sourceLabel = ""':
        'ERROR LABEL /triggers/0/sourceLabel: "sourceLabel" of trigger "" -> "wait" is empty; write non-empty text (label of a node)',
      '/actuators/0/properties/message = "${nodes[\\"\\"].rawData.value}"':
        'ERROR BINDING /actuators/0/properties/message: actuator "note": ${nodes[""].rawData.value}: "" is not a node; write the label of a node; write streamdata.<name> for a value of the message',
      '/task/nodes = [{"name":"heet","properties":{}}]':
        'ERROR OVERRIDE /task/nodes/0/name: unknown node "heet"; did you mean "heat"?',
    }),
  )('%s', (changes, line) => {
    const found = lines(changedBy(changes))
    expect(
      found.filter((text) => text.includes(line)),
      found.join('\n'),
    ).toHaveLength(1)
  })

  it('an invalid value is not also reported as missing', () => {
    expect(lines(changed([['task'], { type: 'periodic', pollingInterval: 0 }]))).toHaveLength(1)
    expect(lines(changed([['task', 'type'], 'sometimes']))).toHaveLength(1)
  })

  it('all problems are reported at once', () => {
    const found = lines(
      changed(
        [['sensors', 0, 'name'], 'steam'],
        [['relations', 0, 'type'], 'XOR'],
        [['triggers', 1, 'sourceLabel'], 'x'],
        [['task'], { type: 'periodic' }],
      ),
    )
    expect(found.filter((text) => text.startsWith('ERROR'))).toHaveLength(4)
  })

  it('a rule is returned with warnings, but not with errors', () => {
    expect(validateRule(changed([['task'], { type: 'periodic' }]), plugs).rule).toBeUndefined()
    expect(validateRule(changed([['extra'], 1]), plugs).rule).toMatchObject({ extra: 1 })
  })
})

describe('accepted:', () => {
  it.each([
    ['numbers written as text', '/sensors/0/properties/threshold = "80.5"'],
    ['a placeholder where a number belongs', '/sensors/0/properties/threshold = "${variables.limit}"'],
    [
      'a sensor that observes events and no data, in a task without a clock',
      '/sensors/- = {"label":"e","name":"ear","resource":"$","dataTrigger":false}; /task = {"type":"reactive"}',
    ],
    ['JSON Logic that looks like nothing else', '/sensors/0/properties/when = {">":[{"var":"a"},1]}'],
    ['an object as JSON text', '/sensors/0/properties/options = "{\\"a\\":1}"'],
    ['latest as version', '/sensors/0/version = "latest"'],
    ['an enormous invocationPolicy', '/triggers/1/invocationPolicy = 922337203685477000'],
    ['a loop given by a placeholder', '/sensors/0/loopDef = "${variables.items}"'],
    ['undeclared variables', '/sensors/0/resource = "$boiler"'],
    ['zones of all forms', '/task/timeZone = "UTC+2"'],
    [
      'fields of an open output',
      '/sensors/- = {"label":"s","name":"script","resource":"$"}; /actuators/0/properties/message = "${nodes.s.rawData.a.b}"',
    ],
    ['a tick ten times a second', '/task/frequency = 100'],
    ['the own answer of an actuator', '/actuators/0/properties/message = "before: ${?nodes.note.rawData.sent}"'],
    ['a sensor of silence with the clock of its task', '/sensors/- = {"label":"quiet","name":"lull","resource":"$"}'],
    [
      'a sensor of silence with its own clock',
      '/task = {"type":"reactive"}; /sensors/- = {"label":"q","name":"lull","resource":"$","pollingPeriod":1000}',
    ],
    [
      'a sensor of silence that a sensor with a clock fires',
      '/task = {"type":"reactive"}; /sensors/0/pollingPeriod = 1000; /sensors/- = {"label":"quiet","name":"lull"}; /triggers/- = {"sourceLabel":"heat","destinationLabel":"quiet"}',
    ],
    [
      'a sensor of silence that another device fires',
      '/task = {"type":"reactive"}; /sensors/0/resource = "other"; /sensors/- = {"label":"quiet","name":"lull","resource":"$"}; /triggers/- = {"sourceLabel":"heat","destinationLabel":"quiet"}',
    ],
    [
      'a sensor of silence in a rule without settings yet',
      '/task =; /sensors/- = {"label":"quiet","name":"lull","resource":"$"}',
    ],
  ])('%s', (_name, changes) => {
    expect(lines(changedBy(changes))).toEqual([])
  })

  it('a periodic rule without a start', () => {
    expect(lines(changed([['task'], undefined], [['sensors', 1, 'resource'], undefined]))).toEqual([])
  })

  it('a mandatory property that an override brings', () => {
    const nodes = [{ name: 'heat', properties: { sensor: { requiredProperties: [{ threshold: 5 }] } } }]
    expect(lines(changed([['sensors', 0, 'properties', 'threshold'], undefined], [['task', 'nodes'], nodes]))).toEqual(
      [],
    )
  })

  it('the old name of scheduled tasks', () => {
    const { rule } = validateRule(changed([['task'], { type: 'cron', cron: '0 0 * * * ?' }]), plugs)
    expect(rule?.task).toEqual({ type: 'scheduled', cron: '0 0 * * * ?' })
  })

  it('conditions without an effect, which are omitted', () => {
    const { rule } = validateRule(
      changed(
        [['triggers', 0, 'stateChangeTrigger'], { stateFrom: '', stateTo: '' }],
        [['triggers', 0, 'statesTrigger'], []],
        [['triggers', 0, 'begins'], []],
        [['triggers', 0, 'ends'], ['']],
      ),
      plugs,
    )
    expect(rule?.triggers?.[0]).toEqual({ sourceLabel: 'heat', destinationLabel: 'wait' })
  })

  it('triggers that differ only in their edges', () => {
    const edge = { sourceLabel: 'late', destinationLabel: 'note' }
    const triggers = [
      { ...edge, begins: ['TRUE'] },
      { ...edge, ends: ['TRUE'] },
      { ...edge, begins: ['FALSE'], ends: [] },
    ]
    const { rule, issues } = validateRule(changed([['triggers'], [...goodRule().triggers, ...triggers]]), plugs)
    expect(issues).toEqual([])
    expect(rule?.triggers?.slice(2)).toEqual([triggers[0], triggers[1], { ...edge, begins: ['FALSE'] }])
  })
})

describe('a strict check', () => {
  const misspelt = changed([['sensors', 0, 'properties', 'treshold'], 1])

  it('rejects an undeclared property of a plug', () => {
    const { rule, issues } = validateRule(misspelt, plugs, { strict: true })
    expect(rule).toBeUndefined()
    expect(issues).toMatchObject([
      { severity: 'ERROR', type: 'UNKNOWN_PROPERTY', suggestion: 'did you mean "threshold"?' },
    ])
    expect(validateRule(misspelt, plugs).rule).toBeDefined()
  })

  it('rejects an undeclared property in a template', () => {
    const { task: _, ...graph } = misspelt as Rule
    expect(validateTemplate({ name: 't', ...graph }, plugs, { strict: true }).template).toBeUndefined()
    expect(validateTemplate({ name: 't', ...graph }, plugs).template).toBeDefined()
  })

  it('keeps other warnings as warnings', () => {
    const odd = changed([['sensors', 0, 'colour'], 'red'])
    expect(validateRule(odd, plugs, { strict: true })).toEqual(validateRule(odd, plugs))
  })
})

describe('malicious documents', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) })

  it('are rejected with __proto__ as a key, and do not change prototypes', () => {
    const evil: unknown = JSON.parse(
      '{"sensors":[{"label":"a","name":"dice","resource":"$","properties":{"__proto__":{"x":1},"constructor":1}}]}',
    )
    expect(lines(evil).filter((text) => text.startsWith('ERROR KEY'))).toEqual([
      'ERROR KEY /sensors/0/properties/__proto__: the key "__proto__" is not allowed; choose another name',
      'ERROR KEY /sensors/0/properties/constructor: the key "constructor" is not allowed; choose another name',
    ])
  })

  it.each([
    ['a thousand levels', changed([['sensors', 0, 'properties', 'options'], nested(1000)]), 'TOO_LARGE'],
    ['two million letters', changed([['sensors', 0, 'properties', 'dataName'], 'x'.repeat(2_000_000)]), 'TOO_LARGE'],
    ['a function', changed([['sensors', 0, 'properties', 'options'], () => 1]), 'TYPE'],
    ['text', 'rule', 'TYPE'],
    ['nothing', undefined, 'TYPE'],
    ['a list', [], 'TYPE'],
  ])('%s is an error, not a crash', (_name, input, type) => {
    const { rule, issues } = validateRule(input, plugs)
    expect(rule).toBeUndefined()
    expect(issues.map((issue) => issue.type)).toContain(type)
  })

  it.each(['{{nope 1}}', '${x.y}'])('are rejected with too many %s, without reading them', (tag) => {
    const texts = (each: number) =>
      changed([['sensors', 0, 'properties', 'options'], [1, 2].map(() => tag.repeat(each))])
    expect(validateRule(texts(2501), plugs).issues).toEqual([
      expect.objectContaining({
        type: 'TOO_LARGE',
        path: '',
        message: 'the document has more than 5000 bindings and tags of templates',
      }),
    ])
    expect(validateRule(texts(10), plugs).issues.map(({ type }) => type)).not.toContain('TOO_LARGE')
  })

  it('labels that objects inherit are like any other', () => {
    const found = lines(
      changed([['triggers', 0, 'sourceLabel'], 'toString'], [['sensors', 0, 'properties', 'valueOf'], 1]),
    )
    expect(found.join('\n')).toMatch(
      /unknown node "toString"[^]*stream has no property "valueOf"|stream has no property "valueOf"[^]*unknown node "toString"/,
    )
  })

  it('wrong names take time proportional to their number', () => {
    const check = (count: number) => {
      const names = Array.from({ length: count }, (_, i) => `sensor_number_${i}`)
      const sensors = names.map((label) => ({ label, name: 'dise', resource: '$' }))
      expect(validateRule({ sensors }, plugs).issues.length).toBeLessThanOrEqual(1000)
    }
    expect(growth(check, 800, 10)).toBeLessThan(40)
  })

  it('a chain of thousands of triggers does not overflow', () => {
    const sensors = Array.from({ length: 6000 }, (_, i) => ({ label: `s${i}`, name: 'coin', resource: '$' }))
    const triggers = sensors.slice(1).map((s, i) => ({ sourceLabel: `s${i}`, destinationLabel: s.label }))
    expect(validateRule({ sensors, triggers }, plugs).issues).toEqual([])
    triggers.push({ sourceLabel: 's5999', destinationLabel: 's0' })
    expect(validateRule({ sensors, triggers }, plugs).issues.map(({ type }) => type)).toEqual(['CYCLE'])
  })
})

describe('a template', () => {
  const template = () => {
    const { task: _task, ...graph } = goodRule()
    return {
      ...graph,
      name: 'boiler.json',
      variables: [{ name: 'limit', type: 'double' }],
      taskDefaults: { type: 'periodic' },
    }
  }
  const issuesOf = (input: unknown) =>
    validateTemplate(input, plugs).issues.map((i) => `${i.severity} ${i.type} ${describeIssue(i)}`)

  it('without problems is returned as is; its defaults may be incomplete', () => {
    expect(validateTemplate(template(), plugs)).toEqual({ template: template(), issues: [] })
  })

  it('needs a name', () => {
    expect(issuesOf({ ...template(), name: undefined })).toEqual([
      'ERROR TYPE /name: the template has no "name"; write "name": non-empty text',
    ])
  })

  it('may omit mandatory properties', () => {
    const open = template()
    delete open.sensors[0]?.properties?.['threshold']
    expect(issuesOf(open)).toEqual([
      expect.stringMatching(/^WARNING PROPERTY .*"threshold" is missing.*"nodes" when the task is created$/),
    ])
  })

  it('warns of undeclared variables, in properties and in resources', () => {
    const open = template()
    Object.assign(open.sensors[0] ?? {}, {
      resource: '$boiler',
      properties: { dataName: 't', threshold: '${variables.limt}' },
    })
    expect(issuesOf(open)).toEqual([
      expect.stringMatching(/^WARNING VARIABLE .*"limt" is not declared; did you mean "limit"\?$/),
      expect.stringMatching(/^WARNING VARIABLE .*"boiler" is not declared/),
    ])
  })

  it.each([
    [
      [
        { name: 'a', type: 'double' },
        { name: 'a', type: 'string' },
      ],
      'the variable "a" is declared twice',
    ],
    [[{ name: 'taskId', type: 'string' }], 'the variable name "taskId" is reserved'],
    [[{ name: 'a', type: 'integer', defaultValue: 1.5 }], 'the variable "a" is 1.5, not a whole number'],
    [[{ name: 'a', type: 'string', format: { type: 'enum' } }], 'the variable "a" is an enum without values'],
    [[{ name: 'a', type: 'number' }], 'must be one of string, boolean, integer'],
  ])('with declarations %j is rejected', (variables, text) => {
    expect(issuesOf({ ...template(), variables }).join('\n')).toContain(text)
  })
})

describe('a request for a task from a template', () => {
  it('is checked for its shape', () => {
    expect(validateTaskRequest({ template: 't', type: 'cron', cron: '0 0 12 * * ?', nodes: [] })).toEqual({
      request: { template: 't', type: 'scheduled', cron: '0 0 12 * * ?', nodes: [] },
      issues: [],
    })
    expect(validateTaskRequest({ nodes: [{ name: 'a' }], start: 'yes' }).issues.map(describeIssue)).toEqual([
      '/nodes/0/properties: node override "a" has no "properties"; write "properties": an object',
      '/start: "start" of the task must be true or false, not the text "yes"',
      '/template: the task has no "template"; write "template": non-empty text',
    ])
  })
})

describe('laws', () => {
  const junk = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.constantFrom('', '*', '$', '${', '__proto__', -1, 1e308, null),
  )
  const places: fc.Arbitrary<Path> = fc.constantFrom(...allPaths(goodRule(), []))

  it('any JSON value is validated without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        for (const { issues } of [
          validateRule(input, plugs),
          validateTemplate(input, plugs),
          validateTaskRequest(input),
        ]) {
          expect(Array.isArray(issues)).toBe(true)
        }
      }),
    )
  })

  it('a mutated rule causes errors, or matches the schema', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(places, fc.option(junk, { nil: undefined })), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const input = changedIfPossible(changes)
          const { rule, issues } = validateRule(input, plugs)
          const failed = issues.some(({ severity }) => severity === 'ERROR')
          expect(rule === undefined).toBe(failed)
          if (rule) expect(Check(RuleSchema, rule)).toBe(true)
        },
      ),
      runs(1500),
    )
  })

  it('documents that the schema library rejects are rejected', () => {
    const shapes = new Set(['TYPE', 'LABEL'])
    fc.assert(
      fc.property(places, junk, (place, value) => {
        const input = changedIfPossible([[place, value]])
        if (Check(RuleSchema, input)) return
        const { issues } = validateRule(input, plugs)
        expect(issues.some(({ severity, type }) => severity === 'ERROR' && (shapes.has(type) || type === 'KEY'))).toBe(
          true,
        )
      }),
    )
  })

  it('the schemas are plain JSON', () => {
    for (const schema of [RuleSchema, TemplateSchema, TaskFromTemplateSchema]) {
      expect(JSON.parse(JSON.stringify(schema))).toMatchObject({ type: 'object' })
    }
  })

  function changedIfPossible(changes: readonly (readonly [Path, unknown])[]): unknown {
    let input: unknown = goodRule()
    for (const change of changes) {
      try {
        const next = structuredClone(input)
        put(next, change)
        input = next
      } catch {
        // an earlier change removed the path
      }
    }
    return input
  }
})

function put(rule: unknown, [path, value]: readonly [Path, unknown]): void {
  let holder = rule as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>
  holder[path.at(-1) ?? ''] = value
}

function allPaths(value: unknown, path: Path): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([key, item]) => allPaths(item, [...path, key]))
  return path.length === 0 ? inner : [path, ...inner]
}
