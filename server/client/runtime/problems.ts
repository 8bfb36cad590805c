// Problems of single inputs. The tests write this file from the kinds of problems.

import type { InputField } from "./fields.js";

/** One problem of the input. Its code tells the kind, so that a client can say it in its own words. */
export type InputProblem =
  /** the input is missing */
  | ProblemOf<"required">
  /** the value has another JSON type */
  | ProblemOf<"type", { expected: string | string[]; given: string }>
  /** the value is not in a list */
  | ProblemOf<"enum", { values: (string | null)[] }>
  /** the text does not have the format */
  | ProblemOf<"format", { format: string }>
  /** the number is too small */
  | ProblemOf<"minimum", { limit: number }>
  /** the number is too large */
  | ProblemOf<"maximum", { limit: number }>
  /** the text is too short */
  | ProblemOf<"minLength", { limit: number }>
  /** the text is too long */
  | ProblemOf<"maxLength", { limit: number }>
  /** the text has nothing but white space */
  | ProblemOf<"notBlank">
  /** the text does not match its pattern; error is the message of the schema, if it has one */
  | ProblemOf<"pattern">
  /** the array has too few elements */
  | ProblemOf<"minItems", { limit: number }>
  /** the array has too many elements */
  | ProblemOf<"maxItems", { limit: number }>
  /** the object has too few members */
  | ProblemOf<"minProperties", { limit: number }>
  /** the object has too many members */
  | ProblemOf<"maxProperties", { limit: number }>
  /** the object does not have such a member */
  | ProblemOf<"additionalProperty", { name: string }>
  /** the input makes too many rows */
  | ProblemOf<"maxRows", { limit: number }>
  /** the paging input cannot be used with another */
  | ProblemOf<"excludes", { name: string }>
  /** the paging input needs another */
  | ProblemOf<"needs", { name: string }>
  /** the text is not a cursor of the list */
  | ProblemOf<"cursor">
  /** the upload key cannot be used here: it is unknown, was used already, or nothing was uploaded */
  | ProblemOf<"upload">
  /** the file has another type */
  | ProblemOf<"contentType", { given: string; accepted: string[] }>
  /** the file has too many bytes */
  | ProblemOf<"maxSize", { limit: number }>
  /** a required field gets no value */
  | ProblemOf<"null">
  /** a required field is set from the caller, who lacks the value */
  | ProblemOf<"noCaller", { name: string }>
  /** another record has the values of these fields */
  | ProblemOf<"unique", { fields: string[] }>
  /** the value is too large for its field */
  | ProblemOf<"range">
  /** the record does not exist */
  | ProblemOf<"reference">
  /** other records refer to the record */
  | ProblemOf<"restrict">
  /** the text is too long for an index */
  | ProblemOf<"indexed">
  /** a validation rule failed; error is its message */
  | ProblemOf<"validate">
  /** a call of this row alone is refused, by the code of its error; of actions with @many */
  | ProblemOf<"refused", { code: string }>
  /** the row is the same as one before it in the call */
  | ProblemOf<"twice">
  /** the value is not the right one, such as a password */
  | ProblemOf<"incorrect">
  /** the address is not in the configuration */
  | ProblemOf<"notAllowed">
  /** the value is the present one */
  | ProblemOf<"unchanged">;

/** An InputProblem of one code. */
interface ProblemOf<Code extends string, Params = undefined> {
  /** The dotted path of the input. */
  field?: InputField;
  code: Code;
  /** What belongs to a problem of this code. */
  params: Params;
  /** A description for people. */
  error: string;
}
