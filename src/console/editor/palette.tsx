/** The palette: plugs and gates by name, group and description. */
import type { PlugEntity } from '#services/rules/contract'
import { type Option, Picker } from '../parts/picker.tsx'
import { freshLabel, type Json, type NodeList, withItem } from './rule-edits.ts'

interface Choice extends Option {
  readonly list: NodeList
  readonly node: Json
}

const GATES = {
  AND: 'TRUE when all parents have the state of the row.',
  OR: 'TRUE when at least one parent has the state of the row.',
  NAND: 'TRUE when at least one parent does not have the state of the row.',
  GENERAL: 'TRUE when the states of the parents are one of the rows.',
}
export const GATE_TYPES = Object.keys(GATES)

function choiceOf({ name, type, category = '', description, configuration }: PlugEntity): Choice {
  const properties = Object.fromEntries(
    configuration
      .filter(({ mandatory }) => mandatory)
      .map(({ name: field, defaultValue, type: of }) => [
        field,
        defaultValue ?? (of === 'boolean' ? false : ['integer', 'long', 'double', 'float'].includes(of) ? 0 : ''),
      ]),
  )
  return {
    key: `${type} ${name}`,
    icon: type,
    name,
    what: `${category} ${type}`,
    ...(description !== undefined && { more: description }),
    list: type === 'sensor' ? 'sensors' : 'actuators',
    node: {
      name,
      ...(type === 'sensor' && { resource: '$' }),
      ...(Object.keys(properties).length > 0 && { properties }),
    },
  }
}

export interface PaletteProps {
  readonly plugs: readonly PlugEntity[]
  readonly rule: Json
  /** adds the node, and returns to the editor with it chosen */
  add(rule: Json, label: string): void
  onClose(): void
}

export function Palette({ plugs, rule, add, onClose }: PaletteProps) {
  const all: readonly Choice[] = [
    ...plugs.map(choiceOf),
    ...Object.entries(GATES).map(([type, more]) => ({
      key: type,
      icon: 'gate' as const,
      name: type,
      what: 'gate',
      more,
      list: 'relations' as const,
      node: { type, parentLabels: [], combinations: [[]] },
    })),
  ]
  const find = (text: string): readonly Choice[] => {
    const words = text.toLowerCase().split(/\s+/)
    const matches = all.filter(({ name, what, more = '' }) =>
      words.every((word) => `${name} ${what} ${more}`.toLowerCase().includes(word)),
    )
    const isNamed = ({ name }: Choice): boolean => name.toLowerCase().includes(words[0] ?? '')
    return [...matches.filter(isNamed), ...matches.filter((one) => !isNamed(one))]
  }
  return (
    <Picker
      label="Add a sensor, gate or actuator"
      find={find}
      choose={({ list, name, node }) => {
        const label = freshLabel(rule, list === 'relations' ? 'gate' : name)
        add(withItem(rule, list, { label, ...node }), label)
      }}
      onClose={onClose}
    />
  )
}
