// The generated part of a client has the types in this file, for its own actions.

/** What a problem is about. */
export type InputField = string;
