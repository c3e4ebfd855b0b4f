import type { Static } from 'typebox'
import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { RuleSchema } from '../../../src/core/rule/rule-schema.ts'
import type {
  ActuatorSchema,
  RelationSchema,
  SensorSchema,
  TaskFromTemplateSchema,
  TaskSettingsSchema,
  TemplateSchema,
  TriggerSchema,
} from '../../../src/core/rule/rule-schema.ts'
import type {
  Actuator,
  Relation,
  Rule,
  Sensor,
  TaskFromTemplate,
  TaskSettings,
  Template,
  Trigger,
} from '../../../src/core/rule/rule.ts'
import { goodRule } from './sample.ts'

/** `true` when both have the same fields; otherwise the line below does not compile. */
type SameFields<A, B> = [keyof A] extends [keyof B] ? ([keyof B] extends [keyof A] ? true : never) : never

describe('the schemas', () => {
  it('have the fields of the types', () => {
    const same: [
      SameFields<Sensor, Static<typeof SensorSchema>>,
      SameFields<Actuator, Static<typeof ActuatorSchema>>,
      SameFields<Relation, Static<typeof RelationSchema>>,
      SameFields<Trigger, Static<typeof TriggerSchema>>,
      SameFields<TaskSettings, Static<typeof TaskSettingsSchema>>,
      SameFields<TaskFromTemplate, Static<typeof TaskFromTemplateSchema>>,
      SameFields<Template, Static<typeof TemplateSchema>>,
      // variables beside a graph become settings when the rule is checked
      SameFields<Rule, Omit<Static<typeof RuleSchema>, 'variables'>>,
    ] = [true, true, true, true, true, true, true, true]
    expect(same).toHaveLength(8)
  })

  it('accept a rule that uses every field', () => {
    expect(Check(RuleSchema, goodRule())).toBe(true)
    expect(Check(RuleSchema, { ...goodRule(), sensors: [{ label: 'a' }] })).toBe(false)
  })
})
